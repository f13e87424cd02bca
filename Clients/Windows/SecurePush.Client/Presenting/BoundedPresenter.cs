using System.Collections.Generic;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>A presenter whose calls end.</summary>
    internal sealed class BoundedPresenter : INotificationPresenter
    {
        private readonly INotificationPresenter presenter;
        private readonly CallLimit limit;

        public BoundedPresenter(INotificationPresenter presenter, IClientClock clock)
        {
            this.presenter = presenter;
            limit = new CallLimit(clock);
        }

        public Task ShowAsync(SecretNotification secret) => limit.RunAsync(() => presenter.ShowAsync(secret));

        public Task ShowAsync(GenericNotice notice) => limit.RunAsync(() => presenter.ShowAsync(notice));

        public Task ShowAsync(LogInPrompt prompt) => limit.RunAsync(() => presenter.ShowAsync(prompt));

        public Task RemoveAsync(IReadOnlyCollection<PushId> ids) => limit.RunAsync(() => presenter.RemoveAsync(ids));

        public Task RemovePromptAsync() => limit.RunAsync(presenter.RemovePromptAsync);

        public Task RemoveAllAsync() => limit.RunAsync(presenter.RemoveAllAsync);

        public Task SetBadgeAsync(int count) => limit.RunAsync(() => presenter.SetBadgeAsync(count));

        public Task<ISet<PushId>> DisplayedSecretsAsync() => limit.RunAsync(presenter.DisplayedSecretsAsync);
    }
}
