using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Windows.Foundation;

namespace Windows.ApplicationModel.Background
{
    public enum BackgroundTaskCancellationReason
    {
        Abort, Terminating, LoggingOff, ServicingUpdate, IdleTask, Uninstall, ConditionLoss, SystemPolicy,
        QuietHoursEntered,
        ExecutionTimeExceeded, ResourceRevocation, EnergySaver,
    }

    public enum BackgroundAccessStatus
    {
        Unspecified, AllowedWithAlwaysOnRealTimeConnectivity, AllowedMayUseActiveRealTimeConnectivity, Denied,
        AlwaysAllowed, AllowedSubjectToSystemPolicy, DeniedBySystemPolicy, DeniedByUser,
    }

    public delegate void BackgroundTaskCanceledEventHandler(
        IBackgroundTaskInstance sender, BackgroundTaskCancellationReason reason);

    public interface IBackgroundTask
    {
        void Run(IBackgroundTaskInstance taskInstance);
    }

    public interface IBackgroundTaskInstance
    {
        event BackgroundTaskCanceledEventHandler Canceled;

        object TriggerDetails { get; }

        BackgroundTaskDeferral GetDeferral();
    }

    public sealed class BackgroundTaskDeferral
    {
        private readonly Action complete;

        public BackgroundTaskDeferral(Action complete)
        {
            this.complete = complete;
        }

        public void Complete() => complete();
    }

    public interface IBackgroundTrigger
    {
    }

    public sealed class PushNotificationTrigger : IBackgroundTrigger
    {
    }

    public interface IBackgroundTaskRegistration
    {
        string Name { get; }

        void Unregister(bool cancelTask);
    }

    public sealed class BackgroundTaskRegistration : IBackgroundTaskRegistration
    {
        private static readonly Dictionary<Guid, IBackgroundTaskRegistration> Tasks =
            new Dictionary<Guid, IBackgroundTaskRegistration>();

        private readonly Guid id = Guid.NewGuid();

        public BackgroundTaskRegistration(BackgroundTaskBuilder builder, IBackgroundTrigger trigger)
        {
            Name = builder.Name;
            EntryPoint = builder.TaskEntryPoint;
            HasNetwork = builder.IsNetworkRequested;
            Trigger = trigger;
            Tasks[id] = this;
        }

        public static IReadOnlyDictionary<Guid, IBackgroundTaskRegistration> AllTasks => Tasks;

        public string Name { get; }

        public string EntryPoint { get; }

        public bool HasNetwork { get; }

        public IBackgroundTrigger Trigger { get; }

        public void Unregister(bool cancelTask) => Tasks.Remove(id);
    }

    public sealed class BackgroundTaskBuilder
    {
        private IBackgroundTrigger trigger;

        public string Name { get; set; }

        public string TaskEntryPoint { get; set; }

        public bool IsNetworkRequested { get; set; }

        public void SetTrigger(IBackgroundTrigger trigger) => this.trigger = trigger;

        public BackgroundTaskRegistration Register() => new BackgroundTaskRegistration(this, trigger);
    }

    public static class BackgroundExecutionManager
    {
        public static BackgroundAccessStatus Status { get; set; } = BackgroundAccessStatus.AllowedSubjectToSystemPolicy;

        /// <summary>Windows does not answer.</summary>
        public static bool IsSilent { get; set; }

        public static IAsyncOperation<BackgroundAccessStatus> RequestAccessAsync() =>
            new StandInOperation<BackgroundAccessStatus>(
                IsSilent ? new TaskCompletionSource<BackgroundAccessStatus>().Task : Task.FromResult(Status));
    }
}

namespace Windows.Networking.PushNotifications
{
    public enum PushNotificationType
    {
        Toast, Tile, Badge, Raw, TileFlyout,
    }

    public sealed class RawNotification
    {
        public RawNotification(string content)
        {
            Content = content;
        }

        public string Content { get; }
    }

    public sealed class PushNotificationReceivedEventArgs
    {
        public bool Cancel { get; set; }

        public PushNotificationType NotificationType { get; set; }

        public RawNotification RawNotification { get; set; }
    }

    public sealed class PushNotificationChannel
    {
        public event TypedEventHandler<PushNotificationChannel, PushNotificationReceivedEventArgs>
            PushNotificationReceived;

        public string Uri { get; set; }

        public DateTimeOffset ExpirationTime { get; set; }

        /// <summary>A push arrives while the app runs.</summary>
        public void Receive(PushNotificationReceivedEventArgs args) => PushNotificationReceived?.Invoke(this, args);
    }

    public static class PushNotificationChannelManager
    {
        /// <summary>The next channel; <c>null</c>: there is none, as without a network.</summary>
        public static PushNotificationChannel Next { get; set; }

        public static IAsyncOperation<PushNotificationChannel> CreatePushNotificationChannelForApplicationAsync() =>
            new StandInOperation<PushNotificationChannel>(
                Next != null
                    ? Task.FromResult(Next)
                    : Task.FromException<PushNotificationChannel>(new System.IO.IOException()));
    }
}
