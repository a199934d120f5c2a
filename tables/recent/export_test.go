package recent

// Len returns the number of entries, including those without an answer.
func (m *Memory) Len() int { return len(m.entries) }

// Held returns the number of entries in m.order.
func (m *Memory) Held() int { return len(m.order) }

func (m *Memory) Bytes() int { return m.bytes }
