package tables

// Memory is the head of an agent's private memory. Two versions do not fit one item, so
// each has its own slot. A new version overwrites the older of the two.
type Memory struct {
	Version  int64      `db:"version"` // rises with each change
	Current  MemoryText `db:"current"`
	Previous MemoryText `db:"previous"`
}

// MemoryText describes one version. The zero value means that there is none.
type MemoryText struct {
	Slot      string `db:"slot"`       // one of memorySlots
	SHA256    string `db:"sha256"`     // of the text, in hex; identifies the version
	Size      int64  `db:"size"`       // of the text, in bytes
	UpdatedAt int64  `db:"updated_at"` // unix ms
}

// There reports whether the version exists. A version with an empty text exists.
func (t MemoryText) There() bool { return t.SHA256 != "" }

// MemorySlot holds a version's text and its hash, because a slot may be overwritten
// between the reads of the head and of the slot.
type MemorySlot struct {
	SHA256 string `db:"sha256"`
	Packed []byte `db:"packed"` // the text, compressed
}

var memorySlots = [2]string{"a", "b"}

// TypeMemory and TypeMemorySlot are the item types of the head and of a slot.
const (
	TypeMemory     = "memory"
	TypeMemorySlot = "memory_slot"
)

// MemoryKey is the key of the head.
func MemoryKey(agent string) Key { return Key{AgentPK(agent), "MEMORY"} }

// MemorySlotKey is the key of a slot.
func MemorySlotKey(agent, slot string) Key { return Key{AgentPK(agent), "MEMORY#" + slot} }

// Replace makes a text the current version, and the current version the previous
// one, on condition that m is still the head. packed is the compressed text.
// changed returns the error if the head has changed ([Write.Else]).
func (m Memory) Replace(agent string, t MemoryText, packed []byte, changed func(Item) error) []Write {
	t.Slot = memorySlots[0]
	if m.Current.Slot == t.Slot {
		t.Slot = memorySlots[1]
	}
	still := NoItem()
	if m.Version > 0 {
		still = Equal("version", m.Version)
	}
	head := Memory{Version: m.Version + 1, Current: t, Previous: m.Current}
	slot := MemorySlot{SHA256: t.SHA256, Packed: packed}
	return []Write{
		Put(keyed(MemoryKey(agent), TypeMemory, Marshal(&head)), still).Else(changed),
		Put(keyed(MemorySlotKey(agent, t.Slot), TypeMemorySlot, Marshal(&slot))),
	}
}
