package recent

// Len returns the number of remembered answers.
func (m *Memory) Len() int { return len(m.entries) }

// Held returns the number of entries in m.order.
func (m *Memory) Held() int { return len(m.order) }

func (m *Memory) Bytes() int { return m.bytes }
