/** The connection string: the key is fetched only when a person asks for it, and forgotten when it is hidden again. */
let connection = null;
let keyShown = false;

async function loadConnection() {
  const answer = await fetch("emulator/connection");
  if (!answer.ok) return;
  connection = await answer.json();
  byID("connection").hidden = false;
  const names = connection.Hubs.slice(0, 5).join(", ") + (connection.Hubs.length > 5 ? ", …" : "");
  byID("hubNames").textContent = connection.AnyHub ? (names ? names + ", or any name" : "any name") : names;
  if (!keyShown) showConnection(connection.WithoutKey);
}

function showConnection(text) { byID("connectionString").textContent = text; }

function tell(text) { byID("connectionTold").textContent = text; }

/** The whole connection string; null if the emulator does not give it to this browser. */
async function wholeConnection() {
  const answer = await fetch("emulator/connection/key", { method: "POST" });
  const told = await answer.json();
  if (!answer.ok) tell(told.detail || "The emulator does not give the key.");
  return answer.ok ? told.ConnectionString : null;
}

byID("keyButton").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  const text = keyShown ? null : await wholeConnection();
  if (!keyShown && text === null) return;
  keyShown = !keyShown;
  button.setAttribute("aria-pressed", String(keyShown));
  showConnection(text === null ? connection.WithoutKey : text);
  tell("");
});

byID("copyButton").addEventListener("click", async () => {
  const text = await wholeConnection();
  if (text === null) return;
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied, with the key.");
  } catch {
    // Outside of localhost and HTTPS there is no clipboard: the text is selected, so that Ctrl-C copies it.
    keyShown = true;
    byID("keyButton").setAttribute("aria-pressed", "true");
    showConnection(text);
    getSelection().selectAllChildren(byID("connectionString"));
    tell("Selected. Press Ctrl-C to copy.");
  }
});
