using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Windows.ApplicationModel.Activation;
using Windows.UI.Core;
using Windows.UI.Xaml.Navigation;

namespace Windows.ApplicationModel.Activation
{
    public interface IActivatedEventArgs
    {
    }

    public sealed class ToastNotificationActivatedEventArgs : IActivatedEventArgs
    {
        public string Argument { get; set; }

        /// <summary>On Windows it is a ValueSet, which is such a dictionary.</summary>
        public IDictionary<string, object> UserInput { get; } = new Dictionary<string, object>();
    }

    public sealed class LaunchActivatedEventArgs : IActivatedEventArgs
    {
        public string Arguments { get; set; }
    }
}

namespace Windows.UI.Core
{
    public delegate void DispatchedHandler();

    public enum CoreDispatcherPriority
    {
        Idle = -2, Low, Normal, High,
    }

    public sealed class WindowActivatedEventArgs
    {
    }

    public sealed class CoreDispatcher
    {
        /// <summary>On Windows it is an IAsyncAction, which is awaited in the same way.</summary>
        public Task RunAsync(CoreDispatcherPriority priority, DispatchedHandler agileCallback)
        {
            agileCallback();
            return Task.CompletedTask;
        }
    }
}

namespace Windows.UI.ViewManagement
{
    public sealed class ApplicationView
    {
        private static readonly ApplicationView Current = new ApplicationView();

        public bool IsScreenCaptureEnabled { get; set; } = true;

        public static ApplicationView GetForCurrentView() => Current;
    }
}

namespace Windows.UI.Xaml.Navigation
{
    public sealed class NavigationEventArgs
    {
        public object Parameter { get; set; }
    }
}

namespace Windows.UI.Xaml
{
    public delegate void RoutedEventHandler(object sender, RoutedEventArgs e);

    public enum Visibility
    {
        Visible, Collapsed,
    }

    public delegate void WindowActivatedEventHandler(object sender, WindowActivatedEventArgs e);

    public class RoutedEventArgs
    {
    }

    public class UIElement
    {
        public CoreDispatcher Dispatcher { get; } = new CoreDispatcher();

        public Visibility Visibility { get; set; }
    }

    public class Application
    {
        protected virtual void OnLaunched(LaunchActivatedEventArgs args)
        {
        }

        protected virtual void OnActivated(IActivatedEventArgs args)
        {
        }
    }

    public sealed class Window
    {
        public event WindowActivatedEventHandler Activated;

        public static Window Current { get; } = new Window();

        public UIElement Content { get; set; }

        public void Activate() => Activated?.Invoke(this, new WindowActivatedEventArgs());
    }
}

namespace Windows.UI.Xaml.Controls
{
    public class Control : UIElement
    {
        public bool IsEnabled { get; set; }
    }

    public class Page : Control
    {
        public Frame Frame { get; internal set; }

        internal void Come(object parameter) => OnNavigatedTo(new NavigationEventArgs { Parameter = parameter });

        internal void Go() => OnNavigatedFrom(new NavigationEventArgs());

        protected virtual void OnNavigatedTo(NavigationEventArgs e)
        {
        }

        protected virtual void OnNavigatedFrom(NavigationEventArgs e)
        {
        }
    }

    public class Frame : Control
    {
        private readonly Stack<object> earlier = new Stack<object>();

        public object Content { get; set; }

        public bool Navigate(Type sourcePageType) => Navigate(sourcePageType, null);

        public bool Navigate(Type sourcePageType, object parameter)
        {
            earlier.Push(Content);
            (Content as Page)?.Go();
            var page = (Page)Activator.CreateInstance(sourcePageType);
            page.Frame = this;
            Content = page;
            page.Come(parameter);
            return true;
        }

        public void GoBack()
        {
            (Content as Page)?.Go();
            Content = earlier.Pop();
            (Content as Page)?.Come(null);
        }
    }

    public class Button : Control
    {
        public event RoutedEventHandler Click;

        public object Content { get; set; }

        public void Press() => Click?.Invoke(this, new RoutedEventArgs());
    }

    public sealed class ItemClickEventArgs : RoutedEventArgs
    {
        public object ClickedItem { get; set; }
    }

    public class ListView : Control
    {
        public object ItemsSource { get; set; }

        public object SelectedItem { get; set; }
    }

    public class StackPanel : UIElement
    {
        public IList<UIElement> Children { get; } = new List<UIElement>();
    }

    public class TextBox : Control
    {
        public string Text { get; set; } = "";
    }

    public class PasswordBox : Control
    {
        public string Password { get; set; } = "";
    }

    public class TextBlock : UIElement
    {
        public string Text { get; set; } = "";
    }
}
