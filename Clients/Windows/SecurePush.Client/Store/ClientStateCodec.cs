using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>Writes and reads the state as JSON text.</summary>
    internal static class ClientStateCodec
    {
        public static byte[] Encode(ClientState state)
        {
            var json = new Writer();
            json.Text("owner", state.Owner);
            json.Number("userChanges", state.UserChanges);
            json.Text("cursor", state.Cursor?.ToString());
            json.Number("prompted", state.IsPrompted ? 1 : 0);
            json.List("questioned", state.Questioned.Select(id => id.ToString()));
            json.List("unreported", state.Unreported.Select(report => report.ToString()));
            json.Text("installation", state.Registration.InstallationId);
            json.Text("user", state.Registration.UserName);
            json.Text("digest", state.Registration.Digest);
            json.Number("registeredAt", state.Registration.RegisteredAt);
            json.Text("keyDigest", state.Registration.KeyDigest);
            json.Text("keyOwner", state.KeyOwner);
            json.Text("departure", state.LastDeparture);
            json.Text("deviceMark", state.DeviceMark);
            var pushKeys = state.PushKeys?.Keys ?? new PublicKey[0];
            json.List("pushKeys", pushKeys.Select(key => Base64Url.Encode(key.Point)));
            json.Number("pushKeysReadAt", state.PushKeysReadAt);
            json.Number("pushKeysAskedAt", state.PushKeysAskedAt);
            json.Text("leaseProcess", state.LeaseProcess);
            json.Number("leaseTakenAt", state.LeaseTakenAt);
            json.List("ledger", state.Ledger.Entries.Select(Line));
            return Encoding.UTF8.GetBytes(json.ToString());
        }

        public static ClientState Decode(byte[] data)
        {
            var members = JsonValue.Parse(data).Members();
            var state = new ClientState
            {
                Owner = Text(members, "owner"),
                UserChanges = (int)Math.Max(0, Math.Min(int.MaxValue - 1, Number(members, "userChanges") ?? 0)),
                Cursor = PushId.From(Text(members, "cursor")),
                IsPrompted = Number(members, "prompted") == 1,
                Registration = new RegistrationRecord(
                    Installation(Text(members, "installation")), Text(members, "user"), Text(members, "digest"),
                    Number(members, "registeredAt"), Text(members, "keyDigest")),
                KeyOwner = Text(members, "keyOwner"),
                LastDeparture = Text(members, "departure"),
                DeviceMark = Text(members, "deviceMark"),
                PushKeysAskedAt = Number(members, "pushKeysAskedAt"),
                LeaseProcess = Text(members, "leaseProcess"),
                LeaseTakenAt = Number(members, "leaseTakenAt") ?? 0,
            };
            state.ReplacePushKeys(
                PublicKeySet.FromStored(List(members, "pushKeys").Select(key => Base64Url.Decode(key))),
                Number(members, "pushKeysReadAt"));
            state.Questioned.AddRange(List(members, "questioned").Select(Id));
            state.Unreported.AddRange(List(members, "unreported").Select(Report));
            foreach (var line in List(members, "ledger"))
            {
                state.Ledger.Restore(Entry(line));
            }

            return state;
        }

        /// <summary>
        /// An entry on one line: ID, progress, time, flags, open requests and the process of a claim.
        /// </summary>
        private static string Line(LedgerEntry entry)
        {
            var flags = (entry.IsNoticed ? 1 : 0) | (entry.IsFirstReader ? 2 : 0);
            return string.Join(
                " ", entry.Id, (int)entry.Progress, entry.At.ToString("R", CultureInfo.InvariantCulture), flags,
                entry.OpenRequests, entry.Process ?? "");
        }

        private static LedgerEntry Entry(string line)
        {
            var words = line.Split(' ');
            if (words.Length != 6 || !int.TryParse(words[1], out var progress) || !int.TryParse(words[3], out var flags)
                || !int.TryParse(words[4], out var openRequests) || !Enum.IsDefined(typeof(Progress), progress)
                || !double.TryParse(words[2], NumberStyles.Float, CultureInfo.InvariantCulture, out var at))
            {
                throw JsonScanner.Malformed();
            }

            return new LedgerEntry(Id(words[0]), (Progress)progress, at)
            {
                IsNoticed = (flags & 1) != 0,
                IsFirstReader = (flags & 2) != 0,
                OpenRequests = openRequests,
                Process = words[5] == "" ? null : words[5],
            };
        }

        /// <summary>An ID that the client has made; <c>null</c> for what a damaged store has.</summary>
        internal static string Installation(string text) => Guid.TryParseExact(text, "D", out var id) ? text : null;

        private static ShownReport Report(string line) => ShownReport.From(line) ?? throw JsonScanner.Malformed();

        private static PushId Id(string text) => PushId.From(text) ?? throw JsonScanner.Malformed();

        private static string Text(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) ? value.Text() : null;

        private static double? Number(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) ? value.Number() : (double?)null;

        private static IEnumerable<string> List(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value)
                ? value.Elements(int.MaxValue).Select(element => element.Text()).ToList()
                : new List<string>();

        /// <summary>Writes the members of one object. What is <c>null</c> is left out.</summary>
        internal sealed class Writer
        {
            private readonly StringBuilder json = new StringBuilder("{");

            public void Text(string name, string value)
            {
                if (value != null)
                {
                    Name(name);
                    JsonText.Append(json, value);
                }
            }

            public void Number(string name, double? value)
            {
                if (value != null)
                {
                    Name(name);
                    json.Append(value.Value.ToString("R", CultureInfo.InvariantCulture));
                }
            }

            public void List(string name, IEnumerable<string> values)
            {
                Name(name);
                var separator = "[";
                foreach (var value in values)
                {
                    json.Append(separator);
                    JsonText.Append(json, value);
                    separator = ",";
                }

                json.Append(separator == "[" ? "[]" : "]");
            }

            public override string ToString() => json + "}";

            private void Name(string name)
            {
                json.Append(json.Length > 1 ? "," : "");
                JsonText.Append(json, name);
                json.Append(':');
            }
        }
    }
}
