// What Material leaves out for people who use a keyboard or a screen reader.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

function mend() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
  document.querySelectorAll(".md-code__nav").forEach((buttons, index) => {
    buttons.setAttribute("aria-label", `Code ${index + 1}`);
  });
}

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", mend);
mend();
