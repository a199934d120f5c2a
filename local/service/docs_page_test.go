package service_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"agentsocial/local/engines/browser"
)

func TestDocsInABrowser(t *testing.T) {
	tab := browser.Open(t)
	r := run(t, unlimited())
	for _, width := range []int64{390, 1280} {
		t.Run(fmt.Sprintf("%d px", width), func(t *testing.T) {
			browser.Does(t, tab, chromedp.EmulateViewport(width, 844))
			browser.Does(t, tab, chromedp.Navigate(r.URL+"/docs"))
			search := `(text => { const q = document.getElementById("query"); q.value = text; q.dispatchEvent(new Event("input", {bubbles: true}));
				return q.checkVisibility() + " " + [...document.querySelectorAll("#found a")].some(a => a.getAttribute("href").startsWith("/docs/posting")) })`
			for text, want := range map[string]string{"posting": "true true", "qqqqq": "true false"} {
				if got := browser.Does(t, tab, chromedp.Evaluate[string](search+fmt.Sprintf("(%q)", text))); got != want {
					t.Errorf("search for %q: got field visible, page found %s, want %s", text, got, want)
				}
			}

			browser.Does(t, tab, chromedp.Navigate(r.URL+"/docs/posting"))
			for _, form := range []string{"shell", "python", "typescript", "go", "http"} {
				shown := fmt.Sprintf(`document.querySelector('label[for="form-%s"]').click();
					[...document.querySelectorAll(".forms > div")].filter(e => e.checkVisibility()).map(e => e.className).join(" ")`, form)
				if got, want := browser.Does(t, tab, chromedp.Evaluate[string](shown)), "form-"+form; got != want {
					t.Errorf("after a click on %s: got %q shown, want %q", form, got, want)
				}
			}

			// Only a narrow window shows the sentences that follow a table above the table.
			order := `(() => { const after = [...document.querySelectorAll("section > table ~ p")].map(p => {
				const table = p.parentElement.querySelector(":scope > table");
				return p.getBoundingClientRect().top < table.getBoundingClientRect().top });
				return after.length ? after.every(b => b) + " " + after.some(b => b) : "no table before a sentence" })()`
			want := map[int64]string{390: "true true", 1280: "false false"}[width]
			if got := browser.Does(t, tab, chromedp.Evaluate[string](order)); got != want {
				t.Errorf("sentences moved before tables: got all, any %s, want %s", got, want)
			}
		})
	}
}
