using System;
using System.IO;

namespace SecurePush
{
    /// <summary>A small file, replaced as a whole. Its members throw <see cref="ClientStoreException"/> only.</summary>
    internal sealed class ProtectedFile
    {
        /// <summary>The state of a thousand notifications takes about 130 KB.</summary>
        private const int MaxBytes = 4 << 20;

        private readonly string path;

        public ProtectedFile(string path)
        {
            this.path = path;
        }

        /// <summary>
        /// Reads the file; <c>null</c> if there is none, or if it was too long and has been put aside.
        /// </summary>
        public byte[] Read()
        {
            try
            {
                using (var file = new FileStream(
                    path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
                {
                    if (file.Length <= MaxBytes)
                    {
                        return ReadAll(file);
                    }
                }

                PutAside();
                return null;
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unreadable);
            }
        }

        /// <summary>Replaces the file: after a crash it has the old content or the new one.</summary>
        public void Write(byte[] content)
        {
            var fresh = path + ".new";
            try
            {
                using (var file = new FileStream(fresh, FileMode.Create, FileAccess.Write, FileShare.None))
                {
                    file.Write(content, 0, content.Length);
                    file.Flush(true);
                }

                if (File.Exists(path))
                {
                    File.Replace(fresh, path, null);
                }
                else
                {
                    File.Move(fresh, path);
                }
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }
        }

        /// <summary>Writes bytes at a place of the file. After a crash a part of them may be missing.</summary>
        public void Write(int start, byte[] bytes)
        {
            try
            {
                using (var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read))
                {
                    file.Seek(start, SeekOrigin.Begin);
                    file.Write(bytes, 0, bytes.Length);
                    file.Flush(true);
                }
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }
        }

        /// <summary>Removes the file, if it is there.</summary>
        public void Remove()
        {
            try
            {
                File.Delete(path);
            }
            catch (DirectoryNotFoundException)
            {
                // There is no file.
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }
        }

        /// <summary>
        /// Renames a damaged file, so that somebody can look at it. If that fails, the next write replaces it.
        /// </summary>
        public void PutAside()
        {
            try
            {
                File.Delete(path + ".damaged");
                File.Move(path, path + ".damaged");
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // It is replaced.
            }
        }

        private static byte[] ReadAll(FileStream file)
        {
            var content = new MemoryStream();
            var buffer = new byte[16 << 10];
            int count;
            while ((count = file.Read(buffer, 0, buffer.Length)) > 0 && content.Length <= MaxBytes)
            {
                content.Write(buffer, 0, count);
            }

            return content.ToArray();
        }
    }
}
