using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// An envelope that was opened, and the notification under which it came. A second notification with the same
    /// envelope is a replay. It holds no secret: 16 bytes of the envelope's ID, 16 of a hash of the notification's ID,
    /// and the time.
    /// </summary>
    public sealed class OpenedEnvelope
    {
        /// <summary>How many are remembered.</summary>
        internal const int MaxCount = 10000;

        /// <summary>So many more are appended before a file is written anew.</summary>
        internal const int Slack = 1000;

        /// <summary>
        /// Older envelopes are refused by their own time, in seconds: 90 days, and it may be a day ahead.
        /// </summary>
        private const double MaxAge = 91 * 86400;
        private const int IdLength = 16;
        private const int Length = 40;
        private readonly byte[] record;

        /// <summary>Makes a record.</summary>
        /// <param name="id">The envelope's ID.</param>
        /// <param name="notification">The notification.</param>
        /// <param name="at">When it was opened, in seconds since 1970.</param>
        public OpenedEnvelope(Guid id, PushId notification, double at)
        {
            record = new byte[Length];
            id.ToByteArray().CopyTo(record, 0);
            using (var hash = SHA256.Create())
            {
                var digest = hash.ComputeHash(Encoding.ASCII.GetBytes(notification.ToString()));
                Array.Copy(digest, 0, record, IdLength, 16);
            }

            BitConverter.GetBytes((long)at).CopyTo(record, 32);
        }

        /// <summary>The record, as it stands at the end of <see cref="AppendedTo"/>.</summary>
        internal byte[] Record => record;

        private long At => BitConverter.ToInt64(record, 32);

        /// <summary>
        /// Looks for the envelope in the records of a store: <c>null</c> if it was never opened, <c>true</c> if it was
        /// opened under the same notification, and <c>false</c> if it is a replay.
        /// </summary>
        public bool? FindIn(byte[] records)
        {
            for (var start = Whole(records) - Length; start >= 0; start -= Length)
            {
                if (IsSame(records, start, 0, IdLength))
                {
                    return IsSame(records, start, IdLength, 2 * IdLength);
                }
            }

            return null;
        }

        /// <summary>
        /// The records of a store with this one at their end: at least the newest 10,000 of the last 90 days. What a
        /// crash has cut off is dropped.
        /// </summary>
        public byte[] AppendedTo(byte[] records)
        {
            var whole = Whole(records);
            var isFull = whole >= (MaxCount + Slack) * Length;
            var kept = new MemoryStream();
            for (var start = isFull ? whole - ((MaxCount - 1) * Length) : 0; start < whole; start += Length)
            {
                if (!isFull || At - BitConverter.ToInt64(records, start + 32) <= MaxAge)
                {
                    kept.Write(records, start, Length);
                }
            }

            kept.Write(record, 0, Length);
            return kept.ToArray();
        }

        private static int Whole(byte[] records) => (records?.Length ?? 0) / Length * Length;

        private bool IsSame(byte[] records, int start, int first, int end)
        {
            for (var index = first; index < end; index++)
            {
                if (records[start + index] != record[index])
                {
                    return false;
                }
            }

            return true;
        }
    }
}
