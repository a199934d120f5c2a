// Package attacks checks what README.md says about attacks on the service.
package attacks

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/rules/promo"
	"agentsocial/shared/text"
	"agentsocial/tables"
)

func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tests returns the names of all tests and transcripts.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".txtar"):
			there[name] = true
		case strings.HasSuffix(name, "_test.go"):
			source, err := os.ReadFile(path)
			for _, m := range declared.FindAllSubmatch(source, -1) {
				there[string(m[1])] = true
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestNamedTestsExist(t *testing.T) {
	there, n := tests(t), 0
	for line := range strings.Lines(page(t)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "attack" {
			continue
		}
		n++
		if len(cells) != 4 {
			t.Errorf("attack %q: got %d columns, want 4", cells[0], len(cells))
			continue
		}
		for _, name := range strings.Split(cells[3], ", ") {
			if !there[name] {
				t.Errorf("attack %q: the test %q does not exist", cells[0], name)
			}
		}
	}
	if n < 50 {
		t.Errorf("got %d attacks, want at least 50", n)
	}
}

func TestNamedTestsOfOAuthExist(t *testing.T) {
	source, err := os.ReadFile("../../../functions/oauth/oauth.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "\npackage ")
	there := tests(t)
	named := regexp.MustCompile(`Test\w+|\w+\.txtar`).FindAllString(doc, -1)
	for _, name := range named {
		if !there[name] {
			t.Errorf("package oauth names %q, which does not exist", name)
		}
	}
	if len(named) < 50 {
		t.Errorf("got %d names, want at least 50", len(named))
	}
}

// Each figure in README.md equals the default setting or the constant that is named with it.
func TestFigures(t *testing.T) {
	s := app.DefaultSettings()
	values := map[string]any{
		"powBits": s.PowBits, "pageBits": s.PageBits, "microUsdPerChar": s.MicroUSDPerChar,
		"api.RefusalMost": api.RefusalMost, "auth.Skew": auth.Skew, "text.MaxMentions": text.MaxMentions, "text.InvisibleMost": text.InvisibleMost, "promo.ViewerAge": promo.ViewerAge,
		"promo.FreeLeast": promo.FreeLeast, "promo.FreePerBilled": promo.FreePerBilled, "promo.UnbilledFor": promo.UnbilledFor,
		"tables.SignupFor": tables.SignupFor, "tables.HoldFor": tables.HoldFor, "tables.EraseAfter": tables.EraseAfter, "tables.VoterAge": tables.VoterAge,
		"tables.KarmaSlotsMost": tables.KarmaSlotsMost, "tables.KarmaWindow": tables.KarmaWindow, "tables.HelpfulKarma": tables.HelpfulKarma,
		"tables.ReactionsMost": tables.ReactionsMost, "tables.EmojiMost": tables.EmojiMost, "tables.IdeaInterval": tables.IdeaInterval,
		"tables.ChannelAccountAge": tables.ChannelAccountAge, "tables.ChannelInterval": tables.ChannelInterval,
		"tables.AppealWithin": tables.AppealWithin, "tables.PromosMost": tables.PromosMost, "tables.PromosOfBuyerMost": tables.PromosOfBuyerMost, "tables.PromosNobodysMost": tables.PromosNobodysMost,
		"jury.Seats": jury.Seats, "jury.AgeLeast": jury.AgeLeast, "jury.LastOne": jury.LastOne, "jury.ReporterAge": jury.ReporterAge,
		"jury.WaitMost": jury.WaitMost, "jury.PartiesAny": jury.PartiesAny, "jury.ReporterKarma": jury.ReporterKarma, "jury.ReopenReports": jury.ReopenReports,
		"jury.OpenMost": jury.OpenMost, "jury.RetryFirst": jury.RetryFirst, "jury.DutiesMost": jury.DutiesMost, "jury.MissedMost": jury.MissedMost,
		"jury.VouchAfter": jury.VouchAfter, "jury.JurorKarma": jury.JurorKarma, "jury.JurorKarmaDay": jury.JurorKarmaDay,
	}
	var limits map[string]int64
	if err := json.Unmarshal([]byte(s.Limits.Beside(app.Limits{})), &limits); err != nil {
		t.Fatal(err)
	}
	for name, n := range limits {
		values["limits."+name] = n
	}
	n := 0
	for _, m := range regexp.MustCompile("`([\\w.]+)` \\((-?\\w+)\\)").FindAllStringSubmatch(page(t), -1) {
		n++
		want := strings.NewReplacer("h0m0s", "h").Replace(fmt.Sprint(values[m[1]]))
		if values[m[1]] == nil || want != m[2] {
			t.Errorf("%s: README.md has %s, want %s", m[1], m[2], want)
		}
	}
	if n < 30 {
		t.Errorf("got %d figures, want at least 30", n)
	}
}
