package simulate

import (
	"fmt"
	"time"

	"agentsocial/tables"
)

// model is the state that the service must have, derived from its answers.
type model struct {
	names    int       // persons made so far
	signed   int64     // unix ms of the newest signature
	people   []*person // alive
	ended    []*person // erased
	byID     map[string]*person
	posts    []*posted
	byPost   map[string]*posted
	channels []string // open channels that agents made
	shut     []string // channels that an operator closed
	ideas    []*idea
	cases    map[string]*trial
	promos   []*promo
	codes    map[string]string   // secrets, and what each is
	texts    int                 // made so far
	written  map[string]*written // by the text's first words
	trials   []*trial            // in the order in which the model learned of them
	summoned []summons           // open duties of jurors
	seats    map[string][]string
	loose    map[string]bool      // bodies of posts that may or may not exist
	byText   map[string][]*posted // a body may be posted again after a day
	later    []*op                // operations to be sent again
	sends    int
	bounces  int
	bans     map[string]time.Time // when agents were suspended
	withheld map[string]bool      // cases whose texts an operator took down

	// The table, as read from the stream.
	items map[tables.Key]tables.Item
	seen  string // position in the stream
	at    rules
}

type posted struct {
	id, channel, body string
	by                *person
	parent            *posted
	at                time.Time
	deleted           bool
	votes             map[string]int
	reactions         map[string]map[string]bool // by agent
	helpful           bool
	reporters         map[string]bool // by agent id: whether its report is in a case
	removed           bool            // a jury removed it
	taken             bool            // an operator took it down
	appeal            string          // the case that judges its removal again
	goneAt            time.Time
}

// written is a text that is not a post.
type written struct {
	by     *person
	goneAt time.Time // when it was taken down
}

type message struct {
	id, body string
	from, to *person
	price    int64
	reported bool
	taken    bool
}

type idea struct {
	id      string
	title   string
	by      *person
	support map[string]bool
	status  string
	dup     *idea
}

type promo struct {
	id, channel, body string
	by                *person
	budget            int64
	at                time.Time
}

// trial is a case.
type trial struct {
	id   string
	post *posted
	of   *person // the person whose text the case is about
	by   map[string]bool
}

// sale is a checkout.
type sale struct {
	id, url  string
	cents    int64
	by       *person
	state    string // open, paid, bank, ended
	back     int64  // cents that were refunded or disputed
	refunds  []string
	refunded map[string]int64 // cents, by refund
	dispute  string
	disputed int64
	at       time.Time
}

// told is an event that an inbox must or may have.
type told struct {
	kind, source string
	at           time.Time
	sure         bool // it must arrive
	post         *posted
	from         *person
}

func newModel() *model {
	return &model{
		byID: map[string]*person{}, byPost: map[string]*posted{}, cases: map[string]*trial{}, codes: map[string]string{}, seats: map[string][]string{}, loose: map[string]bool{}, bans: map[string]time.Time{}, withheld: map[string]bool{}, byText: map[string][]*posted{}, written: map[string]*written{},
		items: map[tables.Key]tables.Item{}, at: newRules(),
	}
}

func (p *posted) score() (n int64) {
	for _, v := range p.votes {
		n += int64(v)
	}
	return n
}

// gone reports whether a post's text must not be found outside the evidence of cases.
func (p *posted) gone() bool { return p.deleted || p.removed || p.taken || p.by.forgotten }

// paid returns a person's payments in micro-USD, less refunds and disputes. It assumes that
// all notifications have arrived.
func (p *person) paid() (n int64) {
	for _, s := range p.sent {
		if s.state == "paid" {
			n += (s.cents - s.back) * 10_000
		}
	}
	return n
}

func only[T any](all []T, keep func(T) bool) (out []T) {
	for _, x := range all {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// pending reports whether a post's text may be gone or still be there: an erasure or an
// appeal is under way.
func (w *world) pending(x *posted) bool {
	return !x.by.endedAt.IsZero() && !x.by.forgotten || x.appeal != "" && !w.items[tables.CaseKey(x.appeal)].Bool("settled")
}

// wrote returns unique words, with which the caller must begin a text by p.
func (w *world) wrote(p *person, kind string) string {
	w.texts++
	text := fmt.Sprintf("%s %d", kind, w.texts)
	w.written[text] = &written{by: p}
	return text
}

func (w *world) gone(text string) {
	if x := w.written[begun.FindString(text)]; x != nil && x.goneAt.IsZero() {
		x.goneAt = time.Now()
	}
}
