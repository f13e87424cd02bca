using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>The storage and the screen of a scenario's device, with their faults.</summary>
    public sealed class ScenarioDevice : IDeviceFaults
    {
        /// <summary>How many changes of the store still fail.</summary>
        public double RefusedWrites { get; set; }

        public bool IsLocked { get; set; }

        /// <summary>How many secrets are still refused.</summary>
        public double Refusals { get; set; }

        public SimulatedDisk Disk { get; } = new SimulatedDisk();

        public SimulatedScreen Screen { get; } = new SimulatedScreen();

        /// <summary>A new wake begins: what is on the screen stays, and what happened is forgotten.</summary>
        public void Begin()
        {
            Screen.Secrets.Clear();
            Screen.Notices.Clear();
            Screen.Prompts.Clear();
            Screen.Badges.Clear();
            Screen.Removed.Clear();
            Screen.PromptRemovals = 0;
            Refusals = 0;
        }

        /// <summary>The wake is over, and with it what was wrong.</summary>
        public void Heal()
        {
            IsLocked = false;
            RefusedWrites = 0;
        }

        public Task StoreAsync(bool writes)
        {
            if (IsLocked)
            {
                throw new ClientStoreException(ClientStoreError.Locked);
            }

            if (writes && RefusedWrites > 0)
            {
                RefusedWrites--;
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }

            return Task.FromResult(true);
        }

        public Task PresentAsync()
        {
            if (Refusals > 0)
            {
                Refusals--;
                throw new InvalidOperationException("The system shows nothing.");
            }

            return Task.FromResult(true);
        }

        /// <summary>The part of <c>expect</c> that the user sees.</summary>
        public Dictionary<string, object> Observation()
        {
            var texts = Screen.Notices.Where(notice => notice.LocalizationKey != new ClientTexts().Locked).ToList();
            var visible = Screen.VisibleNotices.Keys.Where(id => id != "");
            return new Dictionary<string, object>
            {
                { "shown", Screen.Secrets.Select(secret => Members(secret)).ToList() },
                { "generic", texts.Select(notice => Members(notice)).ToList() },
                { "prompts", Screen.Prompts.Select(prompt => Members(prompt)).ToList() },
                { "locked", (double)(Screen.Notices.Count - texts.Count) },
                { "badge", Screen.Badges.Count > 0 ? (object)(double)Screen.Badges.Last() : null },
                {
                    "screen", new Dictionary<string, object>
                    {
                        { "secrets", Sorted(Screen.Visible.Select(id => id.ToString())) },
                        { "generic", Sorted(visible) },
                        { "prompt", Screen.IsPrompting },
                    }
                },
            };
        }

        public static List<object> Texts(IEnumerable<PushId> ids) => ids.Select(id => (object)id.ToString()).ToList();

        private static List<object> Sorted(IEnumerable<string> texts) =>
            texts.OrderBy(text => text, StringComparer.Ordinal).Select(text => (object)text).ToList();

        private static object Members(SecretNotification secret) =>
            Members("id", secret.Id.ToString(), "text", secret.Text);

        private static object Members(GenericNotice notice) =>
            Members("id", notice.Id?.ToString(), "code", notice.Code?.ToString());

        private static object Members(LogInPrompt prompt) =>
            Members("ids", Texts(prompt.Ids), "code", prompt.Code.ToString());

        private static object Members(string name, object value, string otherName, object otherValue) =>
            new Dictionary<string, object> { { name, value }, { otherName, otherValue } };
    }

    /// <summary>A store and a screen whose calls take no turn, so that the order of events is the vectors'.</summary>
    public sealed class ScenarioProcess
    {
        public ScenarioProcess(ScenarioDevice device)
        {
            var process = new SimulatedProcess();
            Store = new SimulatedStore(device.Disk, process, device);
            Presenter = new SimulatedPresenter(device.Screen, process, device);
        }

        public IClientStore Store { get; }

        public INotificationPresenter Presenter { get; }
    }
}
