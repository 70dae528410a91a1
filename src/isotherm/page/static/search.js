// The search box: nodes whose name or content has a text.
import { $, ask, fill, make, named } from "./dom.js";

export function wireSearch(choose) {
  const [box, list] = [$("search"), $("hits")];
  let found = [], at = 0, later = 0, turn = 0, listed = ""; // the number of look-ups, and the text whose hits are in the list
  const close = () => { clearTimeout(later); turn += 1; list.hidden = true; box.setAttribute("aria-expanded", "false"); box.removeAttribute("aria-activedescendant"); };
  const take = (hit) => { close(); box.blur(); choose(hit.id); };
  const row = (hit, place) => make("li", { role: "option", id: `hit-${place}`, "aria-selected": place === at, onmousedown: (event) => { event.preventDefault(); take(hit); } },
    named(hit.name), ...(hit.snippet ? [named(hit.snippet, "snippet")] : []), make("span", { class: "guess" }, hit.label || "—"));
  const draw = () => {
    fill(list, ...(found.length ? found.map(row) : [make("li", { class: "quiet", role: "option", "aria-selected": "false" }, "no node has this in its name or content")]));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    if (found.length) box.setAttribute("aria-activedescendant", `hit-${at}`);
    else box.removeAttribute("aria-activedescendant");
  };
  // List the hits of the text in the box; false if they were not to be had, or are no longer wanted.
  const look = async () => {
    clearTimeout(later);
    const wanted = box.value, own = turn += 1;
    if (!wanted.trim()) { close(); return false; }
    const hits = await ask(`api/search?q=${encodeURIComponent(wanted)}`).catch(() => null);
    if (own !== turn || box.value !== wanted || !hits) return false; // typed on or closed, or the server is lost and the text stays
    [found, at, listed] = [hits, 0, wanted];
    draw();
    return true;
  };
  const enter = async () => {
    const known = !list.hidden && listed === box.value;
    if ((known || await look()) && found.length) take(found[at]);
  };
  box.oninput = () => { clearTimeout(later); later = setTimeout(look, 40); };
  box.onkeydown = (event) => {
    if (event.key === "Enter") enter();
    else if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); if (list.hidden) box.blur(); else close(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { look(); return; }
      at = Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      draw();
    }
  };
  box.onblur = close;
}
