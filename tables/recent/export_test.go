package recent

// Len returns the number of answers that are remembered.
func (m *Memory) Len() int { return len(m.entries) }
