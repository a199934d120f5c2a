package ideas

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

const (
	// likely is from which likeness on an idea is pointed out: TestLikely tells
	// what share of the same and of different ideas it takes.
	likely = 0.575
	// titleShare is how much of a likeness the titles are, by the one that is said
	// better by the other's words; the rest is what the two have in common.
	titleShare = 0.4

	compared   = 10 // ideas of which the likeness is worked out
	pointedOut = 3
)

// sameHere are stems of words that mean the same in a wish; the first stands for
// the others.
var sameHere = func() map[string]string {
	first := map[string]string{}
	for line := range strings.Lines(`
		delet remov eras
		edit modif correct
		imag pictur photo
		dm messag
		doc document manual
		mail email
		hid mut silenc
		rais larg big increas high long
		cheap low lower reduc
		limit maxim quota
		bookmark sav favourit
		notif alert remind
		dark night
		refund repay
		follow subscrib
		audio voic sound
		colour color
		ranking rank leaderboard
		export download
		expir temporar
		call request
		batch bulk
		convers chat
		sse stream
		archiv backup
		creat own
		rss atom
		command terminal cli
		librar library packag sdk
	`) {
		for _, stem := range strings.Fields(line) {
			first[stem] = strings.Fields(line)[0]
		}
	}
	return first
}()

// said is what a text says: its stems, and how much each tells.
type said map[string]float64

func whatSays(text string, weight func(stem string) float64) said {
	s := said{}
	for _, stem := range search.Stems(text) {
		word, ok := sameHere[stem]
		if !ok {
			word = stem
		}
		s[word] = max(s[word], weight(stem))
	}
	return s
}

// level gives a word that both say the lesser of its two weights, on both sides.
func (s said) level(o said) {
	for word, w := range s {
		if v, ok := o[word]; ok {
			s[word], o[word] = min(w, v), min(w, v)
		}
	}
}

// sum is how much the words tell, or those of them that others say as well.
func (s said) sum(others said) (all, shared float64) {
	for word, w := range s {
		all += w
		if _, ok := others[word]; ok {
			shared += w
		}
	}
	return all, shared
}

// share is how much of what s says others say as well, 0 to 1.
func (s said) share(others said) float64 {
	all, shared := s.sum(others)
	if all == 0 {
		return 0
	}
	return shared / all
}

// likeness of two ideas, 0 to 1.
func likeness(a, b *tables.Idea, weight func(stem string) float64) float64 {
	wholeA, wholeB := whatSays(index.IdeaText(a), weight), whatSays(index.IdeaText(b), weight)
	wholeA.level(wholeB)
	title := func(i *tables.Idea, whole said) said {
		t := whatSays(i.Title, weight)
		maps.Copy(t, keep(whole, t))
		return t
	}
	titles := max(title(a, wholeA).share(wholeB), title(b, wholeB).share(wholeA))
	allA, shared := wholeA.sum(wholeB)
	allB, _ := wholeB.sum(wholeA)
	if shared == 0 {
		return 0
	}
	return titleShare*titles + (1-titleShare)*2*shared/(allA+allB)
}

// keep is what of s is among words.
func keep(s, words said) said {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(word string, _ float64) bool { _, ok := words[word]; return !ok })
	return kept
}

// Alike are the ideas that an idea likely repeats, the likest first.
func Alike(ctx context.Context, a *app.App, i *tables.Idea) ([]index.FoundIdea, error) {
	return ideas{a}.alike(ctx, i)
}

func (g ideas) alike(ctx context.Context, i *tables.Idea) ([]index.FoundIdea, error) {
	stems := search.Stems(index.IdeaText(i)) // of the title first
	if len(stems) == 0 {
		return nil, nil
	}
	likes, err := search.Alike(ctx, index.OfIdeas(g.App), stems, compared)
	if err != nil {
		return nil, err
	}
	return judge(i, likes), nil
}

// judge are those of the ideas that share most with one which it likely repeats.
func judge(i *tables.Idea, likes search.Likes[index.FoundIdea]) (found []index.FoundIdea) {
	how := map[string]float64{}
	for _, p := range likes.Posts {
		if l := likeness(i, &p.Value.Idea, likes.Weight); l >= likely {
			how[p.Value.Idea.ID] = l
			found = append(found, p.Value)
		}
	}
	slices.SortStableFunc(found, func(a, b index.FoundIdea) int { return cmp.Compare(how[b.Idea.ID], how[a.Idea.ID]) })
	return found[:min(len(found), pointedOut)]
}
