package mail

import (
	"slices"
	"strings"
	"testing"
)

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"fox@gmail.com": true, "Fox+jury@GMAIL.com": true, "fox@126.com": true, "fox@zohomail.eu": true,
		"fox@example.com": false, "fox@mail.gmail.com": false, "fox@notgmail.com": false, "fox@gmail.co": false,
		"fox@duck.com": false, "fox@privaterelay.appleid.com": false, "fox@relay.firefox.com": false, "fox@mozmail.com": false, // relays
		"fox@simplelogin.com": false, "fox@slmail.me": false, "fox@passmail.net": false, "fox@passinbox.com": false,
		"fox@mailinator.com": false, "fox@yopmail.com": false,
	} {
		if got := parsed(t, address).Public(); got != want {
			t.Errorf("Public of %s = %v, want %v", address, got, want)
		}
	}
}

func TestPublic_ProvidersOfManyCountries(t *testing.T) {
	for domain := range strings.FieldsSeq(`orange.es rediff.com rediffmail.com 139.com 189.cn hotmail.co.in hotmail.com.tr hotmail.com.au hotmail.gr
		live.com.au live.in outlook.in outlook.com.tr yahoo.com.mx yahoo.com.ph yahoo.co.id yahoo.gr movistar.es terra.es vodafone.it
		skynet.be chello.at sky.com o2.co.uk eircom.net indiatimes.com nifty.com uol.com.br terra.com.br rambler.ru ukr.net
		interia.pl otenet.gr walla.com optusnet.com.au xtra.co.nz netzero.net rogers.com sapo.pt rocketmail.com mail.com web.de`) {
		if !parsed(t, "fox@"+domain).Public() {
			t.Errorf("Public of fox@%s = false, want true", domain)
		}
	}
}

func TestThrowaway(t *testing.T) {
	for address, want := range map[string]bool{
		"fox@mailinator.com": true, "fox@yopmail.com": true, "fox@guerrillamail.com": true, "fox@10minutemail.com": true, "fox@Den.Mailinator.com": true,
		"fox@simplelogin.com": true, "fox@fox.anonaddy.com": true, "fox@addy.io": true, "fox@duck.com": true, "fox@relay.firefox.com": true,
		"fox@mozmail.com": true, "fox@privaterelay.appleid.com": true, "fox@passmail.net": true, "fox@slmail.me": true,
		"fox@gmail.com": false, "fox@icloud.com": false, "fox@proton.me": false, "fox@example.com": false, "fox@firefox.com": false, "fox@appleid.com": false,
	} {
		if got := parsed(t, address).Throwaway(); got != want {
			t.Errorf("Throwaway of %s = %v, want %v", address, got, want)
		}
	}
}

func parsed(t *testing.T, address string) Address {
	t.Helper()
	a, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFoldings(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range foldings {
		for _, domain := range f.domains {
			if !listed(providersByHand, domain) || seen[domain] {
				t.Errorf("foldings: %s occurs twice, or is missing in providers.txt", domain)
			}
			seen[domain] = true
		}
	}
}

func TestProviders(t *testing.T) {
	on := map[string]string{}
	for name, list := range map[string]struct {
		text  string
		least int
	}{"by hand": {providersByHand, 400}, "free": {providersFree, 3000}, "disposable": {providersDisposable, 9000}, "relays": {providersRelays, 30}} {
		var domains []string
		for line := range strings.Lines(list.text) {
			if !strings.HasPrefix(line, "#") {
				domains = append(domains, strings.TrimSuffix(line, "\n"))
			}
		}
		if len(domains) < list.least || !slices.IsSorted(domains) {
			t.Errorf("%s: got %d domains, sorted: %v, want at least %d, sorted", name, len(domains), slices.IsSorted(domains), list.least)
		}
		for _, domain := range domains {
			if on[domain] != "" {
				t.Errorf("%s is on the lists %s and %s, want one", domain, on[domain], name)
			}
			on[domain] = name
			if a, err := ParseAddress("fox@" + domain); err != nil || a.Domain() != domain {
				t.Errorf("domain of fox@%s = %v, %v, want %[1]s", domain, a.Domain(), err)
			}
			if !listed(list.text, domain) || listed(list.text, domain+"x") || listed(list.text, domain[1:]) != slices.Contains(domains, domain[1:]) {
				t.Errorf("%s: listed does not find %s, or is wrong about it with an x after it or without its first character", name, domain)
			}
		}
	}
}

// BenchmarkThrowaway searches all lists for a domain of four labels that is on none.
func BenchmarkThrowaway(b *testing.B) {
	a, err := ParseAddress("fox@a.b.example.com")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		a.Throwaway()
		a.Public()
	}
}
