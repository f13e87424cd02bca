using System;
using System.Threading.Tasks;
using Windows.ApplicationModel.Activation;
using Windows.UI.Core;

namespace Windows.ApplicationModel.Activation
{
    public interface IActivatedEventArgs
    {
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

namespace Windows.UI.Xaml
{
    public delegate void WindowActivatedEventHandler(object sender, WindowActivatedEventArgs e);

    public class RoutedEventArgs
    {
    }

    public class UIElement
    {
        public CoreDispatcher Dispatcher { get; } = new CoreDispatcher();
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
    }

    public class Frame : Control
    {
        public object Content { get; set; }

        public bool Navigate(Type sourcePageType)
        {
            Content = Activator.CreateInstance(sourcePageType);
            return true;
        }
    }

    public class Button : Control
    {
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
