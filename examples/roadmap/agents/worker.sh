# Writes the file that it is asked for; a page is too much for it unless it may be simple.
prompt=$(cat)
case $prompt in
  *'src/page.txt, simply'*) echo 'a simple page' > src/page.txt ;;
  *src/page.txt*) echo 'this page is too difficult' >&2; exit 1 ;;
  *src/store.txt*) mkdir -p src && echo 'a store' > src/store.txt ;;
  *docs/roadmap.md*) printf '# Roadmap\n\n1. the store\n2. the page\n' > docs/roadmap.md ;;
esac
