# Phase 5: the last round sees everything that was merged.
prompt=$(cat)
case $prompt in *Finalise*) state=final ;; *) state='in progress' ;; esac
{
  echo "# Validation checklist ($state)"
  for file in docs/ROADMAP.md src/lib/agent/capture.ts src-tauri/src/memory/store.rs src/lib/agent/surfaces.ts; do
    [ -e "$file" ] && echo "- [x] $file" || echo "- [ ] $file"
  done
} > ValidationChecklist.md
