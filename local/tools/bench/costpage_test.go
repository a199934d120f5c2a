package bench

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

// TestGoldenCostPage compares the page of costs with what the meter says.
func TestGoldenCostPage(t *testing.T) {
	t.Parallel()
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r.page(&b)
	current(t, costPage, b.String())
}

// A million calls, as somebody with a pencil has them.
func TestBill(t *testing.T) {
	post := Taken{
		Cost:    Cost{Trips: 2, ReadUnits: 7, WriteUnits: 13},
		After:   Cost{ReadUnits: 5, WriteUnits: 11},
		Changes: 2, CPU: 0.5, Bytes: 524, Plain: 524, Log: 600,
	}
	got := Bill{}.plus(post.bill(), million)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"7 reads at 0.125 and 13 writes at 0.625", got.Table, 0.875 + 8.125},
		{"5 reads and 11 writes", got.After, 0.625 + 6.875},
		// 1.2 invocations, and half a GB for 1 + 2×5 + 0.5×1769/512 ms and a fifth of 1 + 3×5.
		{"Lambda", got.Lambda, 0.24 + 0.5*(11+1.727539+3.2)*1000*0.0000133334},
		{"a request", got.Gateway, 1},
		{"1024 bytes a call at 0.09 a GB", got.Transfer, 1e6 / 1048576 * 0.09},
		// 600 + 186, and a fifth of 346.
		{"855.2 bytes a call at 0.50 a GB", got.Log, 1e6 * 855.2 / 1073741824 * 0.5},
		{"no mail", got.Mail, 0},
	} {
		if math.Abs(x.got-x.want) > 1e-4 {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
	// 130 000 bytes take a ms of a whole processor to compress; who does not accept that gets them all.
	packed := Taken{Bytes: 30_000, Plain: 130_000}
	if got, want := packed.bill().Lambda-(Taken{Bytes: 30_000}).bill().Lambda, 0.5*1769/512/1000*0.0000133334; math.Abs(got-want) > 1e-12 {
		t.Errorf("compressing costs %v, want %v", got, want)
	}
	if got, want := packed.unpacked().Transfer, 130_500.0/1073741824*0.09; math.Abs(got-want) > 1e-12 {
		t.Errorf("the plain answer costs %v, want %v", got, want)
	}
	if mail := (Taken{Mails: 1}).bill().Mail; mail != 0.0001 {
		t.Errorf("a mail is %v", mail)
	}
}

// A month of a thousand agents of one habit.
func TestMonth(t *testing.T) {
	h := []habit{{"POST /x", "", 2, 1000, 90}, {"GET /x", "", 3, 0, 0}}
	bill := func(route, _ string) Bill {
		if route == "POST /x" {
			return Bill{Table: 10e-6, Log: 1e-6}
		}
		return Bill{Gateway: 1e-6}
	}
	m := monthOf(1000, h, bill, standing{Secrets: 3, AlarmMetrics: 20, Dashboards: 1, Metrics: 100})
	// 60 000 of the one, 90 000 of the other, and 12 000 + 2×1000×90 bytes an agent.
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"table", m.Table, 0.6}, {"log", m.Log, 0.06}, {"gateway", m.Gateway, 0.09},
		{"storage", m.storage, 192_000_000 / 1073741824.0 * 0.45},
		{"logs kept", m.logs, 0.12 * 0.15 * 0.03},
		{"standing", m.standing, 1.2 + 2 + 3 + 30},
	} {
		if math.Abs(x.got-x.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

// Provisioned capacity is paid by the hour, half of it used, and not below the least.
func TestProvisioned(t *testing.T) {
	// A million write units a month on average are 0.386 a second; twice that is bought.
	m := month{Bill: Bill{Table: 1000 * writePrice}}
	if got, want := m.provisioned(), 1000*1e6/2592000.0*2*720*0.00065+3.2; math.Abs(got-want) > 1e-6 {
		t.Errorf("a billion writes cost %v, want %v", got, want)
	}
	m = month{Bill: Bill{After: 1000 * readPrice}}
	if got, want := m.provisioned(), 1000*1e6/2592000.0*2*720*0.00013+3.2; math.Abs(got-want) > 1e-6 {
		t.Errorf("a billion reads cost %v, want %v", got, want)
	}
	if got, want := (month{}).provisioned(), 720*40*(0.00013+0.00065)+3.2; math.Abs(got-want) > 1e-6 {
		t.Errorf("nothing costs %v, want %v", got, want)
	}
}

// A server costs its hours, its disk with backups, and what leaves it.
func TestServers(t *testing.T) {
	m := month{bytes: 100 * gb, Bill: Bill{Transfer: 9}}
	s := machines{hours: 0.1, disk: 0.2, least: 20, balance: true}
	if got, want := s.usd(m), 72+0.2*150+0.095*150+9+0.008*100; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := s.usd(month{}), 72+0.2*20+0.095*20; math.Abs(got-want) > 1e-9 {
		t.Errorf("without data: got %v, want %v", got, want)
	}
	for _, n := range networks {
		if len(serversOf(n)) != 2 {
			t.Errorf("%d servers for %d agents, want two", len(serversOf(n)), n)
		}
	}
}

// A network that nobody uses costs at most 5 USD a month, and one of a thousand agents
// at most 15.
func TestSmallNetworksAreCheap(t *testing.T) {
	t.Parallel()
	idle := standingNow()
	idle.Metrics = 0
	if usd := idle.usd(); usd > 5 {
		t.Errorf("an idle network costs %.2f USD a month", usd)
	}
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	m := monthOf(1000, habits, find(r.Rows), standingNow())
	if m.total() > 15 {
		t.Errorf("a thousand agents cost %.2f USD a month", m.total())
	}
	t.Logf("%.2f USD idle, %.2f with a thousand agents", idle.usd(), m.total())
}

// What an attack costs follows from the throttle, the limits and the mails that
// SES lets out, whichever is least.
func TestAttacks(t *testing.T) {
	costly := Taken{Cost: Cost{WriteUnits: 520}}
	all := []Row{
		{&scenario{route: "GET /open"}, Taken{Bytes: 500_000}},
		{&scenario{route: "PUT /v1/me/memory"}, costly},
		{&scenario{route: "POST /slow"}, Taken{Mails: 1}},
	}
	s := app.DefaultSettings()
	list := attacks(all, func(route string) bool { return route == "PUT /v1/me/memory" }, map[string]int{"POST /slow": 5}, 200, s)
	first := list[0]
	if !strings.Contains(first.what, "PUT /v1/me/memory") || first.rate != 200 {
		t.Fatalf("the dearest is %+v", first)
	}
	// 200 a second are 17 280 000 a day; of 50 000 KiB an agent writes 195.3 times 256.
	if want := math.Ceil(17_280_000 / (50_000.0 / 256)); first.agents != want {
		t.Errorf("it takes %v agents, want %v", first.agents, want)
	}
	if usd := first.day(); usd < 17.28*325 || usd > 17.28*328 {
		t.Errorf("it costs %v a day", usd)
	}
	for _, a := range list {
		switch {
		case strings.Contains(a.what, "/slow") && (a.rate > 50_000/86_400.0+1e-9 || a.agents != 0):
			t.Errorf("mails: %+v", a)
		case strings.Contains(a.what, "/open") && a.bounded != "`throttleRate`":
			t.Errorf("what is open: %+v", a)
		}
	}
}
