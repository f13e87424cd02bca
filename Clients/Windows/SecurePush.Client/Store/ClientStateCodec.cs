using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace SecurePush
{
    /// <summary>Writes and reads the state as JSON text.</summary>
    internal static class ClientStateCodec
    {
        public static byte[] Encode(ClientState state)
        {
            var json = new JsonWriter();
            json.Text("owner", state.Owner);
            json.Number("userChanges", state.UserChanges);
            json.Text("cursor", state.Cursor?.ToString());
            json.Number("prompted", state.IsPrompted ? 1 : 0);
            json.List("questioned", state.Unconfirmed.Select(id => id.ToString()));
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
            return json.Bytes();
        }

        public static ClientState Decode(byte[] data)
        {
            var members = JsonValue.Parse(data).Members();
            var state = new ClientState
            {
                Owner = members["owner"]?.Text(),
                UserChanges = (int)Math.Max(0, Math.Min(int.MaxValue - 1, members["userChanges"]?.Number() ?? 0)),
                Cursor = PushId.From(members["cursor"]?.Text()),
                IsPrompted = members["prompted"]?.Number() == 1,
                Registration = new RegistrationRecord(
                    Installation(members["installation"]?.Text()), members["user"]?.Text(), members["digest"]?.Text(),
                    members["registeredAt"]?.Number(), members["keyDigest"]?.Text()),
                KeyOwner = members["keyOwner"]?.Text(),
                LastDeparture = members["departure"]?.Text(),
                DeviceMark = members["deviceMark"]?.Text(),
                PushKeysAskedAt = members["pushKeysAskedAt"]?.Number(),
                LeaseProcess = members["leaseProcess"]?.Text(),
                LeaseTakenAt = members["leaseTakenAt"]?.Number() ?? 0,
            };
            state.ReplacePushKeys(
                PublicKeySet.FromStored(List(members, "pushKeys").Select(key => Base64Url.Decode(key))),
                members["pushKeysReadAt"]?.Number());
            state.Unconfirmed.AddRange(List(members, "questioned").Select(Id));
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

        private static IEnumerable<string> List(JsonMembers members, string name) =>
            (members[name]?.Elements(int.MaxValue) ?? new JsonValue[0]).Select(element => element.Text());
    }
}
