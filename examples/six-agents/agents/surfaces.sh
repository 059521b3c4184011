# Phase 4: starts from what analysis published.
cat > /dev/null
mkdir -p integrations
for where in tmux wezterm vim neovim; do echo "show suggestions in $where" > "integrations/$where.txt"; done
{ echo '// surfaces of:'; sed 's/^/\/\/ /' src/lib/agent/analysis-service.ts; } > src/lib/agent/surfaces.ts
