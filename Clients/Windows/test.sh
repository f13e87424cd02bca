#!/bin/sh
# Compiles the Windows SDK, both packages of its glue and the example with mono, and runs the tests with NUnit. It
# installs nothing: the file debian-packages names what it needs. The last line is `N passed, N failed`.
#
#   test.sh            all tests
#   test.sh NAME       one fixture, such as FlowTests
#
# SECUREPUSH_VECTORS names the folder of the test vectors, if it is not ../vectors.
set -eu
cd "$(dirname "$0")"
SECUREPUSH_VECTORS=${SECUREPUSH_VECTORS:-$(pwd)/../vectors}
export SECUREPUSH_VECTORS
build=$(pwd)/.build
example=../../Examples/Windows
nunit=$(ls -d /usr/lib/cli/nunit.framework-2.6* | head -n 1)
mkdir -p "$build"

compile() {
    output=$1
    shift
    mcs -langversion:7 -warn:4 -warnaserror -debug -target:library -out:"$build/$output" -lib:"$build" "$@"
}

cc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -o "$build/libcng.so" Tests/CngStandIn/cng.c -lcrypto
# The stand-in has the functions of both libraries of Windows.
for assembly in SecurePush.Client SecurePush.Tests; do
    {
        echo '<configuration>'
        for name in bcrypt.dll ncrypt.dll libcng.so; do echo "<dllmap dll=\"$name\" target=\"$build/libcng.so\" />"; done
        echo '</configuration>'
    } >"$build/$assembly.dll.config"
done

compile SecurePush.Client.dll -r:System.Net.Http -r:System.Security -recurse:'SecurePush.Client/*.cs'
# Nobody raises some of the events of the stand-ins.
compile StandIns.dll -nowarn:67 -r:System.Xml -recurse:'Tests/StandIns/*.cs'
compile SecurePush.Client.Uwp.dll -r:SecurePush.Client.dll -r:StandIns.dll -recurse:'SecurePush.Client.Uwp/*.cs'
compile SecurePush.Client.WindowsApp.dll -r:SecurePush.Client.dll -r:StandIns.dll -r:System.Xml -r:System.Xml.Linq \
    SecurePush.Client.Uwp/AppBadge.cs SecurePush.Client.Uwp/ChannelAddress.cs \
    -recurse:'SecurePush.Client.WindowsApp/*.cs'
compile PushTask.dll -r:SecurePush.Client.dll -r:SecurePush.Client.Uwp.dll -r:StandIns.dll \
    -recurse:"$example/Common/*.cs" -recurse:"$example/PushTask/*.cs"
compile App.dll -r:SecurePush.Client.dll -r:SecurePush.Client.Uwp.dll -r:StandIns.dll -r:System.Net.Http \
    -recurse:"$example/Common/*.cs" -recurse:"$example/App/*.cs" -recurse:'Tests/ExampleParts/*.cs'
# The last -target counts.
compile MemoryProbe.exe -target:exe -r:SecurePush.Client.dll -recurse:'Tests/MemoryProbe/*.cs' Tests/Simulation/LibCrypto.cs
# shellcheck disable=SC2046 # file names without blanks
compile SecurePush.Tests.dll -r:SecurePush.Client.dll -r:SecurePush.Client.Uwp.dll \
    -r:SecurePush.Client.WindowsApp.dll -r:StandIns.dll \
    -r:System.Net.Http -r:System.Security -r:System.Xml -r:System.Xml.Linq \
    -r:"$nunit/nunit.framework.dll" \
    $(find Tests -name '*.cs' -not -path '*/StandIns/*' -not -path '*/ExampleParts/*' \
        -not -path '*/MemoryProbe/*')

cd "$build"
rm -f TestResult.xml
nunit-console -nologo -noshadow -nodots -result=TestResult.xml ${1:+-run:SecurePush.Tests.$1} SecurePush.Tests.dll \
    || true
attribute() { sed -n "s/.*<test-results .* $1=\"\([0-9]*\)\".*/\1/p" TestResult.xml; }
total=$(attribute total)
failed=$(($(attribute errors) + $(attribute failures) + $(attribute invalid) + $(attribute not-run)))
echo "$((total - failed)) passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$total" -gt 0 ]
