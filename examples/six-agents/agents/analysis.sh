# Phase 3: works on the files that storage published, and publishes in turn what surfaces needs.
prompt=$(cat)
mkdir -p src/lib/agent/analyzers
cp src-tauri/src/memory/api.rs /tmp/api.rs # it is there, although storage has not ended
echo "// ${prompt%%.*}" > src/lib/agent/analysis-pipeline.ts
echo 'export const suggestions = ["rename this"];' > src/lib/agent/analysis-service.ts
echo 'export const analyzer = () => {};' > src/lib/agent/analyzers/first.ts
bosun agent publish suggestions --value '{ "count": 1 }'
