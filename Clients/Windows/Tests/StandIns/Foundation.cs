// Stand-ins for the classes of Windows that the glue and the example use: only the members that they need, with the
// signatures of the Windows SDK 10.0.16299, and a memory that the tests look into.
using System;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Windows.Foundation
{
    public interface IAsyncOperation<TResult>
    {
    }

    public interface IAsyncAction
    {
    }

    public interface IAsyncOperationWithProgress<TResult, TProgress>
    {
    }

    public delegate void TypedEventHandler<TSender, TResult>(TSender sender, TResult args);

    /// <summary>An operation of the tests.</summary>
    public sealed class StandInOperation<TResult> : IAsyncOperation<TResult>
    {
        public StandInOperation(Task<TResult> task)
        {
            Task = task;
        }

        public Task<TResult> Task { get; }
    }

    /// <summary>An action of the tests.</summary>
    public sealed class StandInAction : IAsyncAction
    {
        public StandInAction(Task task)
        {
            Task = task;
        }

        public Task Task { get; }
    }

    /// <summary>An operation with progress, of the tests.</summary>
    public sealed class StandInProgress<TResult, TProgress> : IAsyncOperationWithProgress<TResult, TProgress>
    {
        public StandInProgress(Task<TResult> task)
        {
            Task = task;
        }

        public Task<TResult> Task { get; }
    }
}

namespace System
{
    using global::Windows.Foundation;

    /// <summary>As in System.Runtime.WindowsRuntime.</summary>
    public static class WindowsRuntimeSystemExtensions
    {
        public static Task<TResult> AsTask<TResult>(this IAsyncOperation<TResult> source) =>
            ((StandInOperation<TResult>)source).Task;

        public static Task<TResult> AsTask<TResult, TProgress>(
            this IAsyncOperationWithProgress<TResult, TProgress> source) =>
            ((StandInProgress<TResult, TProgress>)source).Task;

        public static Task AsTask(this IAsyncAction source) => ((StandInAction)source).Task;

        public static TaskAwaiter<TResult> GetAwaiter<TResult>(this IAsyncOperation<TResult> source) =>
            source.AsTask().GetAwaiter();
    }
}

namespace Windows.Data.Xml.Dom
{
    public sealed class XmlDocument
    {
        private readonly System.Xml.XmlDocument document = new System.Xml.XmlDocument();

        public XmlElement DocumentElement => new XmlElement(document.DocumentElement);

        /// <summary>As on Windows, a text that is not well-formed throws.</summary>
        public void LoadXml(string xml) => document.LoadXml(xml);

        public string GetXml() => document.OuterXml;
    }

    public sealed class XmlElement
    {
        private readonly System.Xml.XmlElement element;

        internal XmlElement(System.Xml.XmlElement element)
        {
            this.element = element;
        }

        public string InnerText => element.InnerText;

        public string GetAttribute(string name) => element.GetAttribute(name);
    }
}

namespace Windows.Storage
{
    public sealed class ApplicationData
    {
        public static ApplicationData Current { get; } = new ApplicationData();

        public StorageFolder LocalFolder { get; } = new StorageFolder();

        public StorageFolder LocalCacheFolder { get; } = new StorageFolder();
    }

    public sealed class StorageFolder
    {
        public string Path { get; set; } = System.IO.Path.Combine(System.IO.Path.GetTempPath(), "securepush-stand-in");
    }
}

namespace Windows.Storage.Streams
{
    public interface IBuffer
    {
        uint Length { get; }
    }

    public sealed class StandInBuffer : IBuffer
    {
        public StandInBuffer(byte[] bytes)
        {
            Bytes = bytes;
        }

        public byte[] Bytes { get; }

        public uint Length => (uint)Bytes.Length;
    }
}

namespace Windows.Security.Cryptography
{
    using Windows.Storage.Streams;

    public static class CryptographicBuffer
    {
        public static IBuffer CreateFromByteArray(byte[] value) => new StandInBuffer((byte[])value.Clone());

        public static void CopyToByteArray(IBuffer buffer, out byte[] value) =>
            value = (byte[])((StandInBuffer)buffer).Bytes.Clone();
    }
}

namespace Windows.Security.Cryptography.DataProtection
{
    using System.Linq;
    using global::Windows.Foundation;
    using Windows.Storage.Streams;

    /// <summary>It only turns the bits around; a wrong first byte is what Windows refuses.</summary>
    public sealed class DataProtectionProvider
    {
        private const byte Mark = 0x5A;

        public DataProtectionProvider()
        {
        }

        public DataProtectionProvider(string protectionDescriptor)
        {
            LastDescriptor = protectionDescriptor;
        }

        public static string LastDescriptor { get; private set; }

        /// <summary>The HRESULT with which the next calls fail; 0: they succeed.</summary>
        public static int Failure { get; set; }

        public IAsyncOperation<IBuffer> ProtectAsync(IBuffer data) => Run(() =>
            new StandInBuffer(new[] { Mark }.Concat(Turned(((StandInBuffer)data).Bytes)).ToArray()));

        public IAsyncOperation<IBuffer> UnprotectAsync(IBuffer data) => Run(() =>
        {
            var bytes = ((StandInBuffer)data).Bytes;
            if (bytes.Length == 0 || bytes[0] != Mark)
            {
                throw new System.Runtime.InteropServices.COMException("Damaged", unchecked((int)0x8007000D));
            }

            return new StandInBuffer(Turned(bytes.Skip(1).ToArray()));
        });

        private static byte[] Turned(byte[] bytes) => bytes.Select(value => (byte)~value).ToArray();

        private static IAsyncOperation<IBuffer> Run(Func<IBuffer> work) =>
            new StandInOperation<IBuffer>(Task.Run(() => Failure == 0
                ? work()
                : throw new System.Runtime.InteropServices.COMException("Failed", Failure)));
    }
}

namespace Windows.ApplicationModel.Resources
{
    using System.Collections.Generic;

    public sealed class ResourceLoader
    {
        /// <summary>The texts, by the name with slashes that the app asks for.</summary>
        public static Dictionary<string, string> Texts { get; } = new Dictionary<string, string>();

        public static ResourceLoader GetForViewIndependentUse() => new ResourceLoader();

        /// <summary>As on Windows, an unknown name is an empty text.</summary>
        public string GetString(string resource) => Texts.TryGetValue(resource, out var text) ? text : "";
    }
}
