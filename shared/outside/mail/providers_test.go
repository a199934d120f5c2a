package mail

import (
	"slices"
	"testing"
)

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"fox@gmail.com": true, "Fox+jury@GMAIL.com": true, "fox@126.com": true, "fox@zohomail.eu": true,
		"fox@example.com": false, "fox@mail.gmail.com": false, "fox@notgmail.com": false, "fox@gmail.co": false,
		"fox@duck.com": false, "fox@privaterelay.appleid.com": false, "fox@relay.firefox.com": false, "fox@mozmail.com": false, // relays
		"fox@simplelogin.com": false, "fox@slmail.me": false, "fox@passmail.net": false, "fox@passinbox.com": false,
	} {
		a, err := ParseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		if a.Public() != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}

// Every folded domain is folded once and is public: at other domains only their
// owners have mailboxes.
func TestFoldings(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range foldings {
		for _, domain := range f.domains {
			if _, found := slices.BinarySearch(providers(), domain); !found || seen[domain] {
				t.Errorf("%s is no provider, or folded twice", domain)
			}
			seen[domain] = true
		}
	}
}

// The list is as its reader expects: sorted domains in normalised form.
func TestProviders(t *testing.T) {
	if len(providers()) < 200 || !slices.IsSorted(providers()) || len(slices.Compact(slices.Clone(providers()))) != len(providers()) {
		t.Errorf("%d providers, sorted %v", len(providers()), slices.IsSorted(providers()))
	}
	for _, domain := range providers() {
		if a, err := ParseAddress("fox@" + domain); err != nil || a.Domain() != domain {
			t.Errorf("%s: %v, %v", domain, a.Domain(), err)
		}
	}
}
