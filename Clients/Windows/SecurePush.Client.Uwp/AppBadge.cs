using System.Globalization;
using System.Threading.Tasks;
using Windows.Data.Xml.Dom;
using Windows.UI.Notifications;

namespace SecurePush.Toasts
{
    /// <summary>The app's badge. The packages for UWP and for the Windows App SDK both contain it.</summary>
    internal static class AppBadge
    {
        public static Task SetAsync(int count) => Task.Run(() =>
        {
            var updater = BadgeUpdateManager.CreateBadgeUpdaterForApplication();
            if (count <= 0)
            {
                updater.Clear();
                return;
            }

            var badge = new XmlDocument();
            badge.LoadXml("<badge value=\"" + count.ToString(CultureInfo.InvariantCulture) + "\"/>");
            updater.Update(new BadgeNotification(badge));
        });
    }
}
