function drawFaults() {
  byID("faultsButton").textContent = faults.length ? "Faults (" + faults.length + ")" : "Faults";
  byID("faults").hidden = !faults.length;
  show(byID("faultList"), faults.map((fault) => ({
    key: String(fault.Id), version: JSON.stringify(fault), build: () => faultChip(fault),
  })), null);
}

function faultChip(fault) {
  const off = make("button", "", "✕");
  off.type = "button";
  off.dataset.key = "off";
  off.setAttribute("aria-label", "Switch off " + effect(fault));
  off.addEventListener("click", () => fetch("emulator/faults/" + fault.Id, { method: "DELETE" }));
  return make("li", "chip", make("b", "", effect(fault)), scope(fault), off);
}

/** What a fault does. */
function effect(fault) {
  const words = [];
  if (fault.LatencyMs) words.push(fault.LatencyMs + " ms late");
  if (fault.Tier) words.push("throttle like " + fault.Tier);
  else if (fault.Status) words.push(fault.Status + (fault.RetryAfter !== undefined ? ", Retry-After " + fault.RetryAfter : ""));
  if (fault.Reset) words.push("cut");
  if (fault.TimeoutMs) words.push("silent " + fault.TimeoutMs + " ms");
  if (fault.Swallow) words.push("lost");
  if (fault.Outcome) words.push(fault.Outcome);
  return words.join(" and ") + (fault.Accept ? " after accepting" : "");
}

/** Which requests it is for, and how often it has hit. */
function scope(fault) {
  const words = [fault.Platform || "every platform"];
  if (fault.Operation) words.push(fault.Operation);
  if (fault.Tag) words.push(fault.Tag);
  if (fault.Rate < 1) words.push(Math.round(fault.Rate * 100) + " %");
  if (fault.Count !== undefined) words.push(fault.Count + " left");
  if (fault.ForMs) words.push("for " + fault.ForMs / 1000 + " s");
  words.push(fault.Hits.toLocaleString() + (fault.Hits === 1 ? " hit" : " hits"));
  return words.join(" · ");
}
