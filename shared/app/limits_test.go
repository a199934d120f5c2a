package app_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
)

func TestLimitsWith(t *testing.T) {
	was := app.DefaultSettings().Limits
	changed := was
	changed.PostsPerMinute, changed.PostsPerHourNew, changed.RegistrationsHour, changed.PushFollowers, changed.PushesDay = 1, 2, 1_000_000_000, 100, 0
	for object, want := range map[string]app.Limits{
		"":   was,
		"{}": was,
		`{"posts_per_minute": 1, "posts_per_hour_new":2,"registrations_hour":1000000000,"push_followers":100,"pushes_day":0}`: changed,
	} {
		if got, err := was.With(object); err != nil || got != want {
			t.Errorf("With(%s) = %+v, %v, want %+v", object, got, err, want)
		}
	}
	if was != app.DefaultSettings().Limits {
		t.Errorf("With changed its receiver to %+v", was)
	}
}

// Limits that refuse no request stay. Beside and With carry the lifted limits to another process.
func TestLifted(t *testing.T) {
	was := app.DefaultSettings()
	was.ByAddr, was.Limits.PushesDay = true, 7
	got := was.Lifted()
	if got.ByAddr || got.MaxReads != 1_000_000_000 {
		t.Errorf("Lifted: got ByAddr %t and MaxReads %d, want false and 1000000000", got.ByAddr, got.MaxReads)
	}
	before, after := reflect.ValueOf(was.Limits), reflect.ValueOf(got.Limits)
	for i := range after.NumField() {
		name, want := after.Type().Field(i).Name, int64(1_000_000_000)
		if slices.Contains([]string{"PushFollowers", "PushesDay", "StandingOwners", "SuspensionOwners"}, name) {
			want = before.Field(i).Int()
		}
		if n := after.Field(i).Int(); n != want {
			t.Errorf("Lifted: limit %s is %d, want %d", name, n, want)
		}
	}
	got.ByAddr, got.MaxReads, got.Limits = was.ByAddr, was.MaxReads, was.Limits
	if !reflect.DeepEqual(got, was) {
		t.Errorf("Lifted changed other settings: got %+v, want %+v", got, was)
	}
	l, err := app.DefaultSettings().Limits.With(was.Lifted().Limits.Beside(app.DefaultSettings().Limits))
	if err != nil || l != was.Lifted().Limits {
		t.Errorf("defaults.With(lifted.Beside(defaults)) = %+v, %v; want %+v", l, err, was.Lifted().Limits)
	}
}

// With restores the limits from the object of Beside.
func TestLimitsBeside(t *testing.T) {
	was := app.DefaultSettings().Limits
	rapid.Check(t, func(t *rapid.T) {
		changed := was
		for _, into := range []*int64{&changed.WritesPerMinute, &changed.PushesDay, &changed.ReconnectsMinute} {
			if rapid.Bool().Draw(t, "another") {
				*into = rapid.Int64Range(1, 1000).Draw(t, "limit")
			}
		}
		object := changed.Beside(was)
		if got, err := was.With(object); err != nil || got != changed || (object == "") != (changed == was) {
			t.Fatalf("With(%q) = %+v, %v; want %+v, and the object empty exactly if no limit changed", object, got, err, changed)
		}
	})
}

func TestLimitsRefused(t *testing.T) {
	const object = "; they must be a JSON object, such as {\"posts_per_minute\": 3}"
	for given, want := range map[string]string{
		`[1]`:  `limits are [1]` + object,
		`null`: `limits are null` + object,
		`off`:  `limits are off` + object, // only local/service knows this word
		`{`:    `limits are {` + object,
		`{"push_followers": 101, "posts_per_hour": 1.5, "tokens_day": "4", "mails_day": -1, "mails_week": 0, "signups_hour": 1000000001, "messages_per_minute": 1e3}`: `limit mails_day is -1; it must be a whole number from 1 to 1000000000
limit mails_week is 0; it must be a whole number from 1 to 1000000000
limit messages_per_minute is 1e3; it must be a whole number from 1 to 1000000000
limit posts_per_hour is 1.5; it must be a whole number from 1 to 1000000000
limit push_followers is 101; it must be a whole number from 0 to 100
limit signups_hour is 1000000001; it must be a whole number from 1 to 1000000000
limit tokens_day is "4"; it must be a whole number from 1 to 1000000000`,
		`{"PostsPerHour": 1, "posts_per_hour": 0}`: `there is no limit "PostsPerHour"; use all_links_day, all_recoveries_day, bounces_day, checkouts_per_minute, consents_hour, follows_per_hour, helpful_day, links_day, links_hour, mails_day, mails_week, memories_per_minute, memory_day, messages_per_minute, origins_day, posts_per_hour, posts_per_hour_new, posts_per_minute, push_followers, pushes_day, reconnects_minute, recoveries_day, recoveries_hour, registrations_hour, reports_day, signups_hour, standing_owners, suspension_owners, tokens_day, writes_per_minute
limit posts_per_hour is 0; it must be a whole number from 1 to 1000000000`,
	} {
		if _, err := app.DefaultSettings().Limits.With(given); err == nil || err.Error() != want {
			t.Errorf("With(%s):\ngot\n%v\nwant\n%s", given, err, want)
		}
	}
}
