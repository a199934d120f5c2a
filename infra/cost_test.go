package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// alarmed returns the number of metrics that alarms watch.
func (s *service) alarmed() (n int) {
	for _, a := range s.all("AWS::CloudWatch::Alarm") {
		several, _ := a.Properties["Metrics"].([]any)
		for _, m := range several {
			if m.(map[string]any)["MetricStat"] != nil { // else it is an expression
				n++
			}
		}
		if several == nil {
			n++
		}
	}
	return n
}

// TestCostPageCounts covers the fixed costs, which local/tools/bench cannot see.
func TestCostPageCounts(t *testing.T) {
	page, err := os.ReadFile("COST.md")
	if err != nil {
		t.Fatal(err)
	}
	s := of(t, defaults)
	mail := of(t, ours).alarmed() - s.alarmed()
	if want := fmt.Sprintf("`mailFrom` adds %.2f USD", 0.1*float64(mail)); !strings.Contains(string(page), want) {
		t.Errorf("COST.md does not say that %s: change mailAlarmMetrics in local/tools/bench/costpage.go to %d", want, mail)
	}
	for _, what := range []string{
		fmt.Sprintf("for %d days beside the table and for %d days (`copyDays`) elsewhere", backupKeepDays, DefaultSettings().CopyDays),
		fmt.Sprintf("Two secrets there and the alarm cost %.2f USD", 2*0.4+0.1*float64(of(t, copied).alarmed()-of(t, notCopied).alarmed())),
	} {
		if !strings.Contains(strings.ReplaceAll(string(page), "\n", " "), what) {
			t.Errorf("COST.md does not say %q: change the numbers in local/tools/bench/copypage.go", what)
		}
	}
	if want := fmt.Sprintf("one in %d quick reads", DefaultSettings().LogReads); !strings.Contains(string(page), want) {
		t.Errorf("COST.md does not say %s: change logReads in local/tools/bench/bill.go", want)
	}
	for what, want := range map[string]int{
		"metrics of alarms": s.alarmed(),
		"secrets":           len(s.all("AWS::SecretsManager::Secret")),
	} {
		said := regexp.MustCompile(`(\d+) ` + what).FindSubmatch(page)
		if said == nil {
			t.Errorf("COST.md does not say how many %s there are", what)
		} else if n, err := strconv.Atoi(string(said[1])); err != nil || n != want {
			t.Errorf("COST.md says %s, want %d: change standingNow in local/tools/bench/costpage.go, and run make golden", fmt.Sprintf("%q", said[0]), want)
		}
	}
	if n := len(s.all("AWS::CloudWatch::Dashboard")); n != 0 || !strings.Contains(string(page), "It has no dashboard") {
		t.Errorf("got %d dashboards without settings, want none, and COST.md to say \"It has no dashboard\"", n)
	}
}
