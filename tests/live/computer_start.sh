#!/bin/bash
# The first program of a test's computer (computer.py): lays out a small Debian in memory, whose programs are those of the
# computer that it runs on, and makes systemd its first process. ROTA_FOLDER, on the kernel's command line, is the test's
# folder, and ROTA_BINARY the program under test; where that is empty, packages can be installed.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin
root=/mnt
mount -t tmpfs -o mode=755 tmpfs $root || exit 1
cd $root || exit 1
mkdir -p usr etc/systemd/system etc/systemd/user proc sys dev run tmp var/lib var/log root srv host
for folder in bin lib lib64 sbin; do ln -s usr/$folder $folder; done
chmod 1777 tmp
# changeable FOLDER: this computer's, of which changes lie in memory.
changeable() {
  local changes=$root/changes${1//\//-}
  mkdir -p "$changes/made" "$changes/work" "$root$1"
  mount -t overlay -o "lowerdir=$1,upperdir=$changes/made,workdir=$changes/work" overlay "$root$1"
}
if [[ $ROTA_BINARY ]]; then
  mount --bind /usr usr
else
  python3 -B "$(dirname "$0")/computer_module.py" fs/overlayfs/overlay.ko
  for folder in /usr /var/lib/dpkg /var/cache/debconf; do changeable $folder; done
  rm -f usr/sbin/policy-rc.d  # of a container, in which packages start no services
  cp -a /etc/adduser.conf /etc/deluser.conf /etc/debconf.conf /etc/login.defs etc/
fi
mount -t tmpfs tmpfs usr/local
mkdir usr/local/bin
[[ -z $ROTA_BINARY ]] || cp "$ROTA_BINARY" usr/local/bin/rota
mount --bind / host
cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/pam.d /etc/security /etc/dbus-1 /etc/ld.so.cache /etc/alternatives etc/
echo "ann:x:4321:4321::/srv/ann:/bin/sh" >> etc/passwd
echo "ann:x:4321:" >> etc/group
echo 'ann:*:19000:0:99999:7:::' > etc/shadow
chmod 600 etc/shadow
install -d -o 4321 -g 4321 -m 700 srv/ann
echo computer > etc/hostname
echo 0123456789abcdef0123456789abcdef > etc/machine-id
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t devtmpfs devtmpfs dev
# What looks for real devices, or for what a first start of a real computer has to do.
for unit in systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
  systemd-hwdb-update.service systemd-random-seed.service systemd-timesyncd.service systemd-tmpfiles-setup-dev.service \
  proc-sys-fs-binfmt_misc.automount dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount \
  sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount systemd-modules-load.service \
  systemd-firstboot.service systemd-machine-id-commit.service systemd-sysusers.service ldconfig.service \
  systemd-journal-catalog-update.service systemd-update-done.service systemd-update-utmp.service \
  systemd-update-utmp-runlevel.service getty.target; do
  ln -s /dev/null etc/systemd/system/$unit
done
cp "$ROTA_FOLDER"/test.service etc/systemd/system/
cat > etc/systemd/system/default.target << 'END'
[Unit]
Requires=multi-user.target
Wants=test.service
After=multi-user.target
END
mkdir -p var/log/journal
cd /
exec chroot $root /lib/systemd/systemd < /dev/console > /dev/console 2>&1
