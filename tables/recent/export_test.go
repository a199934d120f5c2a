package recent

// Len returns the number of answers that are remembered.
func (m *Memory) Len() int { return len(m.entries) }

// Held returns the number of answers whose pages the memory holds.
func (m *Memory) Held() int { return len(m.order) }

// Bytes returns the size of what is remembered.
func (m *Memory) Bytes() int { return m.bytes }
