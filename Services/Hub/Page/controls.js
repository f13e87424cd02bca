// The tabs of a phone, the ways of the keyboard, and pointing at a notification.
const byID = (id) => document.getElementById(id);

// On a phone the two lists are tabs (ARIA Authoring Practices: arrow keys move between tabs).
const tabs = ["records", "devices"];
const isPhone = matchMedia("(max-width: 600px)");

function select(selected) {
  for (const name of tabs) {
    const [tab, panel] = [byID(`${name}Tab`), byID(`${name}Panel`)];
    const isSelected = name === selected;
    tab.setAttribute("aria-selected", String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    panel.hidden = isPhone.matches && !isSelected;
    if (isPhone.matches) panel.setAttribute("role", "tabpanel");
    else panel.removeAttribute("role");
  }
}

const selected = () => tabs.find((name) => byID(`${name}Tab`).getAttribute("aria-selected") === "true");

for (const name of tabs) {
  byID(`${name}Tab`).addEventListener("click", () => select(name));
  // A list that is hidden cannot take the focus.
  document.querySelector(`.skip[href="#${name}Title"]`).addEventListener("click", () => select(name));
}
byID("tabs").addEventListener("keydown", (event) => {
  const to = { ArrowLeft: -1, ArrowRight: 1, Home: -2, End: 2 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const index = (Math.abs(to) === 2 ? (to < 0 ? 0 : 1) : tabs.indexOf(selected()) + to + tabs.length) % tabs.length;
  select(tabs[index]);
  byID(`${tabs[index]}Tab`).focus();
});
isPhone.addEventListener("change", () => select(selected()));

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  byID("filter").focus();
});

/** Pointing at one side, or moving the focus there, shows the same notification on the other. */
let highlighted = null;
function highlight({ target }) {
  const id = target.closest("[data-id]")?.dataset.id ?? null;
  if (id === highlighted) return;
  highlighted = id;
  for (const element of document.querySelectorAll(".same")) element.classList.remove("same");
  if (!id) return;
  const name = CSS.escape(id);
  for (const element of document.querySelectorAll(`[data-id="${name}"], [data-ids~="${name}"]`)) element.classList.add("same");
}
for (const name of ["mouseover", "focusin"]) document.addEventListener(name, highlight);
select("records");
