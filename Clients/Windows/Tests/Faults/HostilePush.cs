using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>Raw notifications that the server never sent.</summary>
    public static class HostilePush
    {
        /// <summary>
        /// Pushes that claim to be for a notification: huge, forged, with a host, with control characters.
        /// </summary>
        public static IEnumerable<IncomingPush> All(PushId id)
        {
            var forged = new string('A', 86);
            return new[]
            {
                null, "", " ", "  ", "\n", id + " withdraw", id + " 1763801000 " + forged, id + " a b c d e",
                Repeated(id + " ", 1000), "\u0000\u001b[2J", id + "/../../token", id + "\u0000", "\u202e" + id,
                "https://evil.example/" + id, id + "?host=evil.example", id.ToString(), id + " " + forged,
                id + " 1 " + forged, id + " -9223372036854775808 " + forged,
                id + " 99999999999999999999999999 " + forged, id + " 1763801000 ====",
                id + " 1763801000 " + forged + " https://evil.example/api", id + " withdraw 1763801000 " + forged,
                id + " WITHDRAW 1763801000 " + forged, id + " withdraw withdraw 1763801000 " + forged,
                new string('x', 1 << 20), "{\"secureId\":\"" + id + "\"}", id + "\t1763801000\t" + forged,
            }.Select(IncomingPush.FromRaw);
        }

        private static string Repeated(string text, int count) => new StringBuilder().Insert(0, text, count).ToString();
    }
}
