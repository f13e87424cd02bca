using System;
using Windows.ApplicationModel.Background;

namespace SecurePush.Tests
{
    /// <summary>One run of a background task, as Windows sees it.</summary>
    public sealed class SimulatedTaskInstance : IBackgroundTaskInstance
    {
        private readonly Action<SimulatedTaskInstance> onCompletion;

        public SimulatedTaskInstance(object triggerDetails, Action<SimulatedTaskInstance> onCompletion = null)
        {
            TriggerDetails = triggerDetails;
            this.onCompletion = onCompletion;
        }

        /// <inheritdoc/>
        public event BackgroundTaskCanceledEventHandler Canceled;

        /// <inheritdoc/>
        public object TriggerDetails { get; }

        /// <summary>How often a deferral was completed.</summary>
        public int Completions { get; private set; }

        public int Deferrals { get; private set; }

        /// <inheritdoc/>
        public BackgroundTaskDeferral GetDeferral()
        {
            Deferrals++;
            return new BackgroundTaskDeferral(() =>
            {
                Completions++;
                onCompletion?.Invoke(this);
            });
        }

        /// <summary>Windows takes the time away.</summary>
        public void Cancel(BackgroundTaskCancellationReason reason) => Canceled?.Invoke(this, reason);
    }
}
