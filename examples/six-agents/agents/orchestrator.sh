# Phase 1: the roadmap, and the types that all share.
cat > /dev/null
mkdir -p docs src-tauri/src/core
printf '# Roadmap\n\n1. capture and storage\n2. analysis\n3. surfaces\n' > docs/ROADMAP.md
echo 'pub struct Event { pub text: String }' > src-tauri/src/core/types.rs
echo "the roadmap is in docs/ROADMAP.md"
