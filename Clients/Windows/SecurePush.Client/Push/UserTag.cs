using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// The tag under which the hub has the devices of a user. Tools that look into the hub need it; apps do not.
    /// The hub compares tags without regard to case, so names that differ in case must not have tags that differ in
    /// nothing else.
    /// </summary>
    public static class UserTag
    {
        private const string Unchanged = "abcdefghijklmnopqrstuvwxyz0123456789_@.:-";
        private const string Prefix = "username:";
        private const int MaxNameBytes = 1024;
        private const int MaxLength = 120;

        /// <summary>
        /// The tag of a user; <c>null</c> for a name that no user can have: an empty one, one of more than 1,024 bytes,
        /// or one with a control character.
        /// </summary>
        public static string Of(string userName)
        {
            var bytes = Encoding.UTF8.GetBytes(userName ?? "");
            if (bytes.Length < 1 || bytes.Length > MaxNameBytes || userName.Any(char.IsControl))
            {
                return null;
            }

            var tag = Prefix + string.Concat(
                bytes.Select(
                    value => Unchanged.IndexOf((char)value) >= 0 ? ((char)value).ToString() : "#" + Hex(value)));
            if (tag.Length <= MaxLength)
            {
                return tag;
            }

            using (var hash = SHA256.Create())
            {
                return Prefix + "##" + string.Concat(hash.ComputeHash(bytes).Select(Hex));
            }
        }

        private static string Hex(byte value) => value.ToString("x2", CultureInfo.InvariantCulture);
    }
}
