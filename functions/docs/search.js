(() => {
"use strict";
const box = document.getElementById("search"), field = document.getElementById("query");
const list = document.getElementById("found"), state = document.getElementById("state");
const sections = JSON.parse(document.getElementById("index").textContent).map(([at, page, title, words]) =>
  ({ at, page, title, names: wordsOf(page + " " + title), words: words.split(" ") }));
const most = 12;

function wordsOf(text) { return text.toLowerCase().match(/[a-z0-9_]+/g) || []; }

// score says how well a section fits: first how many words of the query begin a word of
// its own, then whether they are whole, and in a title.
function score(section, query) {
  let sum = 0;
  for (const word of query) {
    const fit = list => Math.max(0, ...list.map(own => own === word ? 2 : own.startsWith(word) ? 1 : 0));
    const points = Math.max(4 * fit(section.names), fit(section.words));
    if (points) sum += 100 + points;
  }
  return sum;
}

function show() {
  const query = wordsOf(field.value);
  const found = query.length ? sections.map(s => [score(s, query), s]).filter(([n]) => n).sort((a, b) => b[0] - a[0]) : [];
  list.replaceChildren(...found.slice(0, most).map(([, s]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = s.at;
    link.textContent = s.title === s.page ? s.page : s.page + ": " + s.title;
    item.append(link);
    return item;
  }));
  state.textContent = !query.length ? "" : found.length > most ? "The best " + most + " of " + found.length + " sections." :
    found.length === 1 ? "1 section." : found.length + " sections.";
}

// The arrows move through what was found, Enter opens it, and Escape empties the field.
box.addEventListener("keydown", e => {
  const stops = [field, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (step) {
    e.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
  } else if (e.key === "Enter" && at === 0 && stops[1]) {
    e.preventDefault();
    stops[1].click();
  } else if (e.key === "Escape") {
    field.value = "";
    show();
    field.focus();
  }
});
document.addEventListener("keydown", e => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || document.activeElement === field) return;
  e.preventDefault();
  field.focus();
});
field.addEventListener("input", show);
box.addEventListener("submit", e => e.preventDefault());
box.hidden = false;
show();
})();
