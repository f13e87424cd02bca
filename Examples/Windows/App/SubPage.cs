using Windows.UI.ViewManagement;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>A page that the user leaves with "Back".</summary>
    public class SubPage : Page
    {
        /// <summary>Keeps the page out of screenshots, recordings and the pictures of the task view.</summary>
        protected bool IsPrivate
        {
            set => ApplicationView.GetForCurrentView().IsScreenCaptureEnabled = !value;
        }

        /// <inheritdoc/>
        protected override void OnNavigatedFrom(NavigationEventArgs e) => IsPrivate = false;

        /// <summary>"Back".</summary>
        protected void BackClicked(object sender, RoutedEventArgs e) => Frame.GoBack();
    }

    /// <summary>A line of a list.</summary>
    internal sealed class Row<T>
    {
        private readonly string text;

        public Row(T value, string text)
        {
            Value = value;
            this.text = text;
        }

        public T Value { get; }

        /// <inheritdoc/>
        public override string ToString() => text;
    }
}
