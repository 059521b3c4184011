# Phase 5: a round that has nothing to do changes nothing, and costs no commit.
cat > /dev/null
mkdir -p .github/workflows
echo '{ outputs = _: { }; }' > flake.nix
echo '{ }: { }' > shell.nix
{ echo 'on: push'; find src src-tauri -type d 2> /dev/null | sort | sed 's/^/# builds /'; } > .github/workflows/ci.yml
