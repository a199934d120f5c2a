package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// checkFeed checks that a document meets JSON Feed 1.1, and its strong recommendations
// for public feeds (https://www.jsonfeed.org/version/1.1/). It refuses attachments and
// hubs, which the service does not have.
func checkFeed(body []byte) error {
	var problems []error
	say := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !utf8.Valid(body) {
		say("it is not UTF-8")
	}
	var feed map[string]any
	if err := json.Unmarshal(body, &feed); err != nil {
		return err
	}
	problems = append(problems, checkMembers("feed", feed, map[string]kind{
		"version": isString | required, "title": isString | required, "home_page_url": isURL | required, "feed_url": isURL | required,
		"description": isString, "user_comment": isString, "next_url": isURL, "icon": isURL, "favicon": isURL,
		"authors": isList, "language": isString, "expired": isBool, "items": isList | required,
	})...)
	if feed["version"] != "https://jsonfeed.org/version/1.1" {
		say("its version is %v", feed["version"])
	}
	if feed["next_url"] == feed["feed_url"] {
		say("next_url is feed_url")
	}
	problems = append(problems, checkAuthors("feed", feed["authors"])...)
	items, _ := feed["items"].([]any)
	seen := map[any]bool{}
	for i, v := range items {
		where := fmt.Sprintf("item %d", i)
		item, ok := v.(map[string]any)
		if !ok {
			say("%s is not an object", where)
			continue
		}
		problems = append(problems, checkMembers(where, item, map[string]kind{
			"id": isString | required, "url": isURL | required, // "should be present regardless"
			"external_url": isURL, "title": isString, "content_html": isString, "content_text": isString, "summary": isString,
			"image": isURL, "banner_image": isURL, "date_published": isDate, "date_modified": isDate,
			"authors": isList, "tags": isList, "language": isString,
		})...)
		if item["content_html"] == nil && item["content_text"] == nil {
			say("%s has no content", where)
		}
		if seen[item["id"]] {
			say("%s repeats an id", where)
		}
		seen[item["id"]] = true
		problems = append(problems, checkAuthors(where, item["authors"])...)
		tags, _ := item["tags"].([]any)
		for _, tag := range tags {
			if _, ok := tag.(string); !ok {
				say("%s has the tag %v", where, tag)
			}
		}
	}
	return errors.Join(problems...)
}

// kind is the type of a member, and whether it is required.
type kind int

const (
	isString kind = 1 << iota
	isURL
	isDate
	isBool
	isList
	required
)

func checkMembers(where string, object map[string]any, known map[string]kind) (problems []error) {
	say := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(where+": "+format, args...))
	}
	for name, k := range known {
		if _, ok := object[name]; !ok && k&required != 0 {
			say("%s is missing", name)
		}
	}
	for name, v := range object {
		k, ok := known[name]
		if !ok {
			if len(name) < 2 || name[0] != '_' || strings.Contains(name, ".") { // extensions
				say("%s is not a member of the format", name)
			}
			continue
		}
		s, isText := v.(string)
		switch {
		case k&(isString|isURL|isDate) != 0 && !isText:
			say("%s is not a string", name)
		case k&(isString|isURL|isDate) != 0 && s == "":
			say("%s is empty", name)
		case k&isURL != 0:
			if u, err := url.Parse(s); err != nil || !u.IsAbs() || u.Host == "" {
				say("%s is not a URL: %q", name, s)
			}
		case k&isDate != 0:
			if _, err := time.Parse(time.RFC3339, s); err != nil {
				say("%s: %v", name, err)
			}
		}
		_, boolean := v.(bool)
		_, array := v.([]any)
		if k&isBool != 0 && !boolean || k&isList != 0 && !array {
			say("%s is a %T", name, v)
		}
	}
	return problems
}

func checkAuthors(where string, v any) (problems []error) {
	authors, _ := v.([]any)
	for i, a := range authors {
		object, _ := a.(map[string]any)
		if len(object) == 0 {
			problems = append(problems, fmt.Errorf("%s: author %d has no member", where, i))
		}
		problems = append(problems, checkMembers(where+", author", object, map[string]kind{"name": isString, "url": isURL, "avatar": isURL})...)
	}
	return problems
}

func TestCheckFeed(t *testing.T) {
	t.Parallel()
	const good = `{"version":"https://jsonfeed.org/version/1.1","title":"t","home_page_url":"https://x.example/","feed_url":"https://x.example/f",
		"next_url":"https://x.example/f?2","_x":{},"items":[{"id":"1","url":"https://x.example/1","content_text":"a","date_published":"2026-11-21T13:00:00.000Z","authors":[{"name":"n"}],"tags":["a"]}]}`
	if err := checkFeed([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"version/1.1", "version/1"}, {`"title":"t",`, ""}, {`"title":"t"`, `"title":7`}, {`"title":"t"`, `"title":""`},
		{"https://x.example/f\"", "/f\""}, {"f?2", "f"}, {`"_x"`, `"x"`}, {`"id":"1"`, `"id":1`}, {`"id":"1",`, ""},
		{`"content_text":"a",`, ""}, {"T13", " 13"}, {`{"name":"n"}`, `{}`}, {`{"name":"n"}`, `{"nom":"n"}`}, {`["a"]`, `[1]`},
		{`"items":[`, `"items":[{"id":"1","url":"https://x.example/1","content_text":"a"},`}, {`"items"`, `"item"`}, {`"a"`, "\"\xff\""},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good || checkFeed([]byte(bad)) == nil {
			t.Errorf("checkFeed with %q instead of %q: got it accepted, or nothing replaced; want it refused", c[1], c[0])
		}
	}
}
