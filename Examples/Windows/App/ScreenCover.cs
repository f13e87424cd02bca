using Windows.UI.ViewManagement;

namespace SecurePushExample
{
    /// <summary>
    /// Keeps a page out of screenshots, recordings and the pictures of the task view, while it shows secrets.
    /// </summary>
    internal static class ScreenCover
    {
        public static void Set(bool isCovered) =>
            ApplicationView.GetForCurrentView().IsScreenCaptureEnabled = !isCovered;
    }
}
