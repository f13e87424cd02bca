using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>The screen of the device. It outlives the processes.</summary>
    public sealed class SimulatedScreen
    {
        /// <summary>Each secret as often as it was shown, in order.</summary>
        public List<SecretNotification> Secrets { get; } = new List<SecretNotification>();

        /// <summary>The secrets that the user can see.</summary>
        public HashSet<PushId> Visible { get; } = new HashSet<PushId>();

        /// <summary>The generic texts that the user can see; the key of one without an ID is empty.</summary>
        public Dictionary<string, GenericNotice> VisibleNotices { get; } = new Dictionary<string, GenericNotice>();

        public List<GenericNotice> Notices { get; } = new List<GenericNotice>();

        public List<LogInPrompt> Prompts { get; } = new List<LogInPrompt>();

        public List<PushId> Removed { get; } = new List<PushId>();

        public int PromptRemovals { get; set; }

        public bool IsPrompting { get; set; }

        /// <summary>Numbers that were set on the tile, in order.</summary>
        public List<int> Badges { get; } = new List<int>();

        /// <summary>Whether the system can tell what the user sees.</summary>
        public bool TellsWhatIsShown { get; set; } = true;

        /// <summary>How often the user was told something, secrets aside.</summary>
        public int Hints => Notices.Count + Prompts.Count;

        public int TimesShown(PushId id) => Secrets.Count(secret => secret.Id == id);
    }

    /// <summary>A process's way to the screen.</summary>
    public sealed class SimulatedPresenter : INotificationPresenter
    {
        private readonly SimulatedScreen screen;
        private readonly SimulatedProcess process;
        private readonly IDeviceFaults faults;

        public SimulatedPresenter(SimulatedScreen screen, SimulatedProcess process, IDeviceFaults faults)
        {
            this.screen = screen;
            this.process = process;
            this.faults = faults;
        }

        public Task ShowAsync(SecretNotification secret) => process.CallAsync("show secret", () =>
        {
            screen.Secrets.Add(secret);
            screen.VisibleNotices.Remove(secret.Id.ToString());
            return screen.Visible.Add(secret.Id);
        }, faults.PresentAsync);

        public Task ShowAsync(GenericNotice notice) => process.CallAsync("show notice", () =>
        {
            screen.Notices.Add(notice);
            screen.VisibleNotices[notice.Id?.ToString() ?? ""] = notice;
            return notice.Id != null && screen.Visible.Remove(notice.Id);
        });

        public Task ShowAsync(LogInPrompt prompt) => process.CallAsync("show prompt", () =>
        {
            screen.Prompts.Add(prompt);
            return screen.IsPrompting = true;
        });

        public Task RemoveAsync(IReadOnlyCollection<PushId> ids) => process.CallAsync("remove", () =>
        {
            screen.Removed.AddRange(ids);
            screen.Visible.ExceptWith(ids);
            return ids.Count(id => screen.VisibleNotices.Remove(id.ToString()));
        });

        public Task RemovePromptAsync() => process.CallAsync("remove prompt", () =>
        {
            screen.PromptRemovals++;
            screen.VisibleNotices.Remove("");
            return screen.IsPrompting = false;
        });

        public Task RemoveAllAsync() => process.CallAsync("remove all", () =>
        {
            screen.Removed.AddRange(screen.Visible);
            screen.Visible.Clear();
            screen.VisibleNotices.Clear();
            screen.Badges.Add(0);
            return screen.IsPrompting = false;
        });

        public Task SetBadgeAsync(int count) => process.CallAsync("set badge", () =>
        {
            screen.Badges.Add(count);
            return count;
        });

        public Task<ISet<PushId>> DisplayedSecretsAsync() => process.CallAsync(
            "displayed secrets",
            () => screen.TellsWhatIsShown ? (ISet<PushId>)new HashSet<PushId>(screen.Visible) : null);
    }
}
