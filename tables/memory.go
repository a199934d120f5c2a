package tables

// Memory is the head of an agent's private memory: what stands in which of its
// two slots. A new version goes into the slot of the one before the last, and
// the head turns to it, in one transaction: two versions do not fit one item,
// and whoever fails half-way has overwritten nothing that counts.
type Memory struct {
	Version  int64      `db:"version"` // rises with each change
	Current  MemoryText `db:"current"`
	Previous MemoryText `db:"previous"`
}

// MemoryText is what a head says of one version. The zero value is none.
type MemoryText struct {
	Slot      string `db:"slot"`       // memorySlots
	SHA256    string `db:"sha256"`     // of the text, in hex; names the version
	Size      int64  `db:"size"`       // of the text, in bytes
	UpdatedAt int64  `db:"updated_at"` // unix ms
}

// There reports whether the version exists; one that is empty does.
func (t MemoryText) There() bool { return t.SHA256 != "" }

// MemorySlot holds a version's text. It says itself which one that is: a slot
// that was read after its head may have been written twice in between.
type MemorySlot struct {
	SHA256 string `db:"sha256"`
	Packed []byte `db:"packed"` // the text, compressed
}

// memorySlots are the names of the two slots.
var memorySlots = [2]string{"a", "b"}

// TypeMemory and TypeMemorySlot are the item types of the head and of a slot.
const (
	TypeMemory     = "memory"
	TypeMemorySlot = "memory_slot"
)

// MemoryKey is where the head stands.
func MemoryKey(agent string) Key { return Key{AgentPK(agent), "MEMORY"} }

// MemorySlotKey is where a slot stands.
func MemorySlotKey(agent, slot string) Key { return Key{AgentPK(agent), "MEMORY#" + slot} }

// Replace makes a text, of which packed is the compressed form, the current
// version, and what was current the previous one, on the condition that m still
// stands. changed says what it means that it does not ([Write.Else]).
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
