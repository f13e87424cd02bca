using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

namespace SecurePush.Tests
{
    /// <summary>A web server on the loopback interface that sends fixed bytes, one thread per connection.</summary>
    public sealed class LoopbackServer : IDisposable
    {
        private readonly TcpListener listener = new TcpListener(IPAddress.Loopback, 0);
        private readonly Func<string, byte[]> answer;

        /// <param name="answer">The bytes for a path; <c>null</c> never answers.</param>
        public LoopbackServer(Func<string, byte[]> answer)
        {
            this.answer = answer;
            listener.Start();
            Url = "http://127.0.0.1:" + ((IPEndPoint)listener.LocalEndpoint).Port;
            new Thread(Accept) { IsBackground = true }.Start();
        }

        public string Url { get; }

        /// <summary>The heads of the requests that came.</summary>
        public List<string> Heads { get; } = new List<string>();

        /// <summary>A whole response.</summary>
        public static byte[] Response(string status, string body = "", string headers = "") =>
            Encoding.UTF8.GetBytes(
                "HTTP/1.1 " + status + "\r\nContent-Length: " + Encoding.UTF8.GetByteCount(body)
                + "\r\nConnection: close\r\n" + headers + "\r\n" + body);

        public void Dispose() => listener.Stop();

        private void Accept()
        {
            try
            {
                while (true)
                {
                    var client = listener.AcceptTcpClient();
                    new Thread(() => Serve(client)) { IsBackground = true }.Start();
                }
            }
            catch (SocketException)
            {
                // The test is over.
            }
        }

        private void Serve(TcpClient client)
        {
            using (client)
            using (var stream = client.GetStream())
            {
                try
                {
                    var head = ReadHead(stream);
                    lock (Heads)
                    {
                        Heads.Add(head);
                    }

                    var bytes = answer(head.Split(' ')[1]);
                    if (bytes == null)
                    {
                        Thread.Sleep(5000);
                        return;
                    }

                    stream.Write(bytes, 0, bytes.Length);
                }
                catch (IOException)
                {
                    // The client has had enough.
                }
            }
        }

        private static string ReadHead(Stream stream)
        {
            var head = new StringBuilder();
            int value;
            while (!head.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal) && (value = stream.ReadByte()) >= 0)
            {
                head.Append((char)value);
            }

            return head.ToString();
        }
    }
}
