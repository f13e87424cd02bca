using System;
using System.Collections.Generic;

namespace SecurePush
{
    /// <summary>What came of a wake.</summary>
    public enum WakeResult
    {
        /// <summary>There was nothing to do.</summary>
        NoData,

        /// <summary>Something could not be fetched.</summary>
        Failed,

        /// <summary>Something was fetched, shown or removed.</summary>
        NewData,
    }

    /// <summary>The result of one wake.</summary>
    public sealed class WakeReport
    {
        private readonly List<PushId> shown = new List<PushId>();
        private readonly List<PushId> waiting = new List<PushId>();

        internal WakeReport(WakeResult result = WakeResult.NoData, DiagnosticCode code = null)
        {
            Result = result;
            Code = code;
        }

        /// <summary>The result.</summary>
        public WakeResult Result { get; private set; }

        /// <summary>The notifications whose secrets were shown, in this order.</summary>
        public IReadOnlyList<PushId> Shown => shown;

        /// <summary>The notifications for which the user sees the generic text or the prompt.</summary>
        public IReadOnlyList<PushId> Waiting => waiting;

        /// <summary>Why not everything was shown; the first reason.</summary>
        public DiagnosticCode Code { get; private set; }

        internal static WakeReport OfShown(PushId id)
        {
            var report = new WakeReport(WakeResult.NewData);
            report.shown.Add(id);
            return report;
        }

        internal static WakeReport OfWaiting(IEnumerable<PushId> ids, DiagnosticCode code)
        {
            var report = new WakeReport(WakeResult.Failed, code);
            report.waiting.AddRange(ids);
            return report;
        }

        /// <summary>The same without the notifications: another wake reports them.</summary>
        internal WakeReport WithoutNotifications() => new WakeReport(Result, Code);

        /// <summary>Adds the result of the next step.</summary>
        internal void Add(WakeReport other)
        {
            shown.AddRange(other.shown);
            foreach (var id in other.waiting)
            {
                if (!waiting.Contains(id))
                {
                    waiting.Add(id);
                }
            }

            Code = Code ?? other.Code;
            Result = Result > other.Result ? Result : other.Result;
        }
    }

    /// <summary>Why a request of the app failed. The code says more.</summary>
    public sealed class SecurePushException : Exception
    {
        /// <summary>Makes an error.</summary>
        public SecurePushException(DiagnosticCode code, string installationId = null)
            : base(
                (installationId == null
                    ? "The request to the retrieval service failed ("
                    : "The device is registered, but its key for end-to-end encryption is not (") + code + ").")
        {
            Code = code;
            InstallationId = installationId;
        }

        /// <summary>The reason.</summary>
        public DiagnosticCode Code { get; }

        /// <summary>
        /// The device is registered under this ID, and gets what is not encrypted; only the server may not have its
        /// key. <c>null</c> for every other failure.
        /// </summary>
        public string InstallationId { get; }
    }
}
