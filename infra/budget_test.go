package main

import (
	"slices"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	s := of(t, whole)
	topic, _ := s.only(t, "AWS::SNS::Topic")
	_, budget := s.only(t, "AWS::Budgets::Budget")
	above := func(kind string) string {
		return `{"Notification":{"ComparisonOperator":"GREATER_THAN","NotificationType":"` + kind + `","Threshold":100,"ThresholdType":"PERCENTAGE"},` +
			`"Subscribers":[{"Address":{"Ref":"` + topic + `"},"SubscriptionType":"SNS"}]}`
	}
	budget.expect(t, "budget", map[string]string{
		"Budget":                       `{"BudgetLimit":{"Amount":` + everything["budgetUsd"].(string) + `,"Unit":"USD"},"BudgetType":"COST","TimeUnit":"MONTHLY"}`,
		"NotificationsWithSubscribers": `[` + above("ACTUAL") + `,` + above("FORECASTED") + `]`,
	})
	id, policy := s.only(t, "AWS::SNS::TopicPolicy")
	if !slices.Contains(list(budget.DependsOn), id) { // AWS refuses a budget that may not publish
		t.Errorf("the budget depends on %v, want %s among them", budget.DependsOn, id)
	}
	if got := plain(policy.Properties["PolicyDocument"]); !strings.Contains(got, `"Effect":"Allow","Principal":{"Service":"budgets.amazonaws.com"},"Resource":{"Ref":"`+topic+`"},"Sid":"Budget"`) {
		t.Errorf("the topic's policy lacks the budget's permission: %s", got)
	}
	production(t, func(t *testing.T, s *service) {
		if n := s.all("AWS::Budgets::Budget"); len(n) != 0 {
			t.Errorf("budgetUsd 0: got budgets %v, want none", keys(n))
		}
		if _, policy := s.only(t, "AWS::SNS::TopicPolicy"); strings.Contains(plain(policy.Properties["PolicyDocument"]), "budgets") {
			t.Error("budgetUsd 0: the topic lets budgets publish, want no such permission")
		}
	})
}
