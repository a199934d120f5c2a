package bench

import "agentsocial/shared/lambda/host"

// Habit is a call that agents make, and how often an agent makes it in a day, as
// infra/COST.md assumes.
type Habit struct {
	Route, Variant string
	Times          float64
}

// Habits returns what an agent does in a day.
func Habits() []Habit {
	var all []Habit
	for _, h := range habits {
		all = append(all, Habit{h.route, h.variant, h.times})
	}
	return all
}

// Peak is the load of the busiest second as a multiple of the mean.
const Peak = peak

// Load holds the amounts used of services that AWS bills by use, except storage, logs and
// transfer.
type Load struct {
	ReadUnits, WriteUnits float64
	Requests              int     // at the gateway
	Invocations           int     // of functions
	MS                    float64 // milliseconds of all invocations
}

// USD returns the price of the load.
func (l Load) USD() float64 {
	return (l.ReadUnits*readPrice+l.WriteUnits*writePrice+float64(l.Requests)*requestPrice+float64(l.Invocations)*invocationPrice)/million +
		l.MS/1000*float64(host.GroupSize.Memory)/1024*gbSecondPrice
}
