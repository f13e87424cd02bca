#!/usr/bin/env bash
# Compiles the Android SDK and its example against small stand-ins for the platform, and runs the tests of both. It
# installs nothing: `debian-packages` names what it needs. An argument is a part of the names of the test classes that
# run. The test vectors are those of ../vectors, or of the folder SECUREPUSH_VECTORS.
set -euo pipefail
cd "$(dirname "$0")"

java=/usr/share/java
libraries=$java/com.android.json.jar:$java/bcprov.jar
test_libraries=$java/junit4.jar:$java/hamcrest-core.jar
build=.build
out=$build/classes

# The compiler takes most of the time, so it runs once, for everything, and only after a change.
sources() {
    find src/main/kotlin tests ../../Examples/Android/app/src/main/kotlin -name '*.kt' -o -name '*.java' | LC_ALL=C sort
}
digest=$({ sources | xargs cat; cat test.sh; } | sha256sum | cut -d' ' -f1)
if [[ ! -f $build/digest || $(<"$build/digest") != "$digest" ]]; then
    rm -rf "$build"
    mkdir -p "$out"
    begin=$SECONDS
    sources | grep '\.java$' | xargs javac --release 8 -Xlint:-options -nowarn -d "$out"
    echo "javac: $(sources | grep -c '\.java$') stand-ins in $((SECONDS - begin)) s"
    begin=$SECONDS
    # Without the second compiler of the virtual machine, kotlinc needs a third less time.
    sources | grep '\.kt$' | JAVA_OPTS='-Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1' xargs kotlinc -no-reflect \
        -jvm-target 1.8 -cp "$libraries:$test_libraries:$out" -d "$out" 2> >(grep -v '^OpenJDK .* warning' >&2)
    echo "kotlinc: $(sources | grep -c '\.kt$') files in $((SECONDS - begin)) s"
    echo "$digest" >"$build/digest"
fi

exec java -Xmx512m -cp "$out:$libraries:$test_libraries:$java/kotlin-stdlib.jar" securepush.RunTestsKt "$out" "$@"
