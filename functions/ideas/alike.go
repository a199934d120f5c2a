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
	// likely is the lowest likeness at which an idea is refused. TestLikely measures how
	// well this works.
	likely = 0.575
	// titleShare is the weight of the titles in a likeness. The whole texts have the
	// rest.
	titleShare = 0.4

	compared   = 10 // bounds the ideas whose likeness is computed
	pointedOut = 3  // bounds the ideas that a refusal names
)

// synonyms maps each stem to the first stem of its line. The stems of a line mean the
// same in an idea.
var synonyms = func() map[string]string {
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

// weighted holds a text's stems with their weights.
type weighted map[string]float64

func weigh(text string, weight func(stem string) float64) weighted {
	s := weighted{}
	for _, stem := range search.Stems(text) {
		word, ok := synonyms[stem]
		if !ok {
			word = stem
		}
		s[word] = max(s[word], weight(stem))
	}
	return s
}

// level gives each shared word the lesser of its two weights, in s and in o.
func (s weighted) level(o weighted) {
	for word, w := range s {
		if v, ok := o[word]; ok {
			s[word], o[word] = min(w, v), min(w, v)
		}
	}
}

// sum returns the weight of all words of s, and the weight of those that are also in o.
func (s weighted) sum(o weighted) (all, shared float64) {
	for word, w := range s {
		all += w
		if _, ok := o[word]; ok {
			shared += w
		}
	}
	return all, shared
}

// share returns the weight of the words that s shares with o, divided by the weight of
// all words of s.
func (s weighted) share(o weighted) float64 {
	all, shared := s.sum(o)
	if all == 0 {
		return 0
	}
	return shared / all
}

// likeness returns how alike two ideas are, 0 to 1.
func likeness(a, b *tables.Idea, weight func(stem string) float64) float64 {
	wholeA, wholeB := weigh(index.IdeaText(a), weight), weigh(index.IdeaText(b), weight)
	wholeA.level(wholeB)
	title := func(i *tables.Idea, whole weighted) weighted {
		t := weigh(i.Title, weight)
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

// keep returns the part of s that is in words.
func keep(s, words weighted) weighted {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(word string, _ float64) bool { _, ok := words[word]; return !ok })
	return kept
}

// Alike returns up to pointedOut ideas that i likely repeats, the most similar first.
func Alike(ctx context.Context, a *app.App, i *tables.Idea) ([]index.FoundIdea, error) {
	return ideas{a}.alike(ctx, i)
}

func (g ideas) alike(ctx context.Context, i *tables.Idea) ([]index.FoundIdea, error) {
	stems := search.Stems(index.IdeaText(i)) // the title's stems come first
	if len(stems) == 0 {
		return nil, nil
	}
	likes, err := search.Alike(ctx, index.OfIdeas(g.App), stems, compared)
	if err != nil {
		return nil, err
	}
	return judge(i, likes), nil
}

// judge returns up to pointedOut ideas of likes that i likely repeats, the most similar
// first.
func judge(i *tables.Idea, likes search.Likes[index.FoundIdea]) (found []index.FoundIdea) {
	how := map[string]float64{} // likeness by id
	for _, p := range likes.Posts {
		if l := likeness(i, &p.Value.Idea, likes.Weight); l >= likely {
			how[p.Value.Idea.ID] = l
			found = append(found, p.Value)
		}
	}
	slices.SortStableFunc(found, func(a, b index.FoundIdea) int { return cmp.Compare(how[b.Idea.ID], how[a.Idea.ID]) })
	return found[:min(len(found), pointedOut)]
}
