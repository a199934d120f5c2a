package bench

// owning returns the scenarios of an agent's own data.
func owning(w *world) ([]scenario, error) {
	owners, err := w.recruits(2)
	if err != nil {
		return nil, err
	}
	little, forgetful := owners[0], owners[1]
	first := request{route: "GET /v1/me/export", by: little}
	return []scenario{
		{route: "GET /v1/me/export", variant: "of a new agent", next: always(w, first)},
		{route: "DELETE /v1/me/origin", variant: "without one", next: func(i int) (call, error) {
			return w.call(w.at(i), request{route: "DELETE /v1/me/origin", by: forgetful}), nil
		}},
		{route: "DELETE /v1/me", costOnly: true, next: func(i int) (call, error) {
			again, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			return w.call(w.at(i), request{route: "DELETE /v1/me", by: again[0]}), nil
		}},
	}, nil
}
