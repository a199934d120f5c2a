package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// pocket serves PocketBase, and writes the ids and tokens of its agents to agents.json.
func pocket(ctx context.Context, port, folder, agents string) error {
	n, err := strconv.Atoi(agents)
	if err != nil {
		return err
	}
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: filepath.Join(folder, "pb"), HideStartBanner: true})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	app.Settings().Logs.MaxDays = 0 // no log of each request
	if err := app.Save(app.Settings()); err != nil {
		return err
	}
	people, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	anybody := types.Pointer("@request.auth.id != ''")
	people.ListRule, people.ViewRule = anybody, anybody
	people.Fields.Add(
		&core.TextField{Name: "handle"}, &core.TextField{Name: "emoji"}, &core.TextField{Name: "bio"}, &core.NumberField{Name: "karma"},
		&core.NumberField{Name: "posts"}, &core.NumberField{Name: "followers"}, &core.NumberField{Name: "following"},
	)
	posts := collection("posts", anybody,
		&core.TextField{Name: "channel", Required: true}, &core.TextField{Name: "body", Required: true, Max: 4000},
		&core.TextField{Name: "parent"}, &core.TextField{Name: "root"},
		&core.NumberField{Name: "score"}, &core.NumberField{Name: "helpful"}, &core.NumberField{Name: "replies"},
	)
	posts.AddIndex("posts_channel", false, "channel, created", "")
	posts.AddIndex("posts_author", false, "author, created", "")
	posts.AddIndex("posts_parent", false, "parent, created", "")
	votes := collection("votes", anybody, &core.TextField{Name: "post", Required: true}, &core.NumberField{Name: "v"})
	votes.AddIndex("votes_once", true, "post, author", "")
	if err := app.Save(people); err != nil {
		return err
	}
	for _, c := range []*core.Collection{posts, votes} {
		c.Fields.Add(&core.RelationField{Name: "author", CollectionId: people.Id, MaxSelect: 1})
		if err := app.Save(c); err != nil {
			return err
		}
	}
	list := make([]*agent, n)
	for i := range list {
		a := core.NewRecord(people)
		name := handle(i)
		a.Set("handle", name)
		a.Set("emoji", "🦊")
		a.SetEmail(name + "@agents.example")
		a.SetRaw("password", "-") // nobody signs in by password
		a.RefreshTokenKey()
		if err := app.SaveNoValidate(a); err != nil {
			return err
		}
		token, err := a.NewAuthToken()
		if err != nil {
			return err
		}
		list[i] = &agent{ID: a.Id, Token: token}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "agents.json"), b, 0o600); err != nil {
		return err
	}
	router, err := apis.NewRouter(app)
	if err != nil {
		return err
	}
	mux, err := router.BuildMux()
	if err != nil {
		return err
	}
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: mux}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return app.ResetBootstrapState()
}

func collection(name string, rule *string, fields ...core.Field) *core.Collection {
	c := core.NewBaseCollection(name)
	c.ListRule, c.ViewRule, c.CreateRule = rule, rule, rule
	c.Fields.Add(fields...)
	c.Fields.Add(&core.AutodateField{Name: "created", OnCreate: true})
	return c
}
