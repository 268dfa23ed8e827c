# Finds the Pythons that work on this machine and the stack that each one can carry.
# Sourced by scripts/setup; defines functions and does nothing else.

glibc_version() { # prints the C library's version, or 0 where it is not glibc
  local line
  line=$(getconf GNU_LIBC_VERSION 2>/dev/null) || line="glibc 0"
  echo "${line##* }"
}

at_least() { # at_least HAVE WANT: compares dotted versions
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

stacks_for_glibc() { # stacks_for_glibc VERSION: the stacks that it can run, newest first
  if at_least "$1" 2.39; then echo newer older; elif at_least "$1" 2.17; then echo older; fi
}

stack_of_python() { # stack_of_python MAJOR.MINOR
  case $1 in
    3.10) echo older ;;
    3.11 | 3.12 | 3.13) echo newer ;;
    *) return 1 ;;
  esac
}

python_range() { # python_range STACK: the Python versions that it supports, in words
  case $1 in older) echo "Python 3.10" ;; newer) echo "Python 3.11 to 3.13" ;; esac
}

candidate_pythons() { # prints paths that may be a Python, one a line
  local name folder root
  for name in python3.13 python3.12 python3.11 python3.10 python3 python; do
    type -ap "$name" || true
  done
  # Version managers: what stands on PATH is often a shim that fails, so look behind it.
  root=${PYENV_ROOT:-$(pyenv root 2>/dev/null || echo "$HOME/.pyenv")}
  for folder in /usr/bin /usr/local/bin "$root"/versions/*/bin \
    "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}"/*/bin \
    "$HOME"/.asdf/installs/python/*/bin "$HOME"/.local/share/mise/installs/python/*/bin; do
    for name in python3.13 python3.12 python3.11 python3.10; do
      [[ ! -x $folder/$name ]] || echo "$folder/$name"
    done
  done
}

probe_python() { # probe_python PATH: "VERSION PATH INCLUDE HEADERS" when it runs, else nothing
  # _base_executable looks through a virtual environment that is active at the moment.
  timeout 30 "$1" -I -c '
import os, sys, sysconfig
include = sysconfig.get_path("include")
if sys.implementation.name == "cpython" and sys.maxsize > 2**32:
    print("%d.%d" % sys.version_info[:2],
          os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
          include, int(os.path.exists(os.path.join(include, "Python.h"))), sep="\t")
' </dev/null 2>/dev/null
}

working_pythons() { # probes all candidates; prints each working Python once
  local path
  candidate_pythons | awk '!seen[$0]++' | while IFS= read -r path; do
    probe_python "$path" || true
  done | awk -F '\t' '!seen[$2]++'
}

rank_pythons() { # rank_pythons "STACKS": orders probe lines, best first, as "STACK<tab>LINE"
  local version path include headers stack rank name
  while IFS=$'\t' read -r version path include headers; do
    stack=$(stack_of_python "$version") || continue
    [[ " $1 " == *" $stack "* ]] || continue
    rank=0
    for name in $1; do
      [[ $name != "$stack" ]] || break
      rank=$((rank + 1))
    done
    # One dependency is built from source, so a Python that has its headers goes first.
    printf '%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n' "$rank" "$((1 - headers))" \
      "$((99 - ${version#3.}))" "$stack" "$version" "$path" "$include" "$headers"
  done | sort -s -n -k1,1 -k2,2 -k3,3 | cut -f 4-
}
