// For tests: a disk between SQLite and the real one that fails when it is told to, and that knows what would be found
// on it after a loss of power. It does not wait for the real one.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace rota::store {

enum class DiskFault : std::uint8_t {
  full,   // this write fails, and all that follow
  torn,   // this write is done in part
  unsafe  // this sync fails, and what is on the disk is not known
};

// One at a time has a name, by which SqliteStore::open takes it. Outlives all that is open on it.
class TestDisk {
 public:
  static constexpr const char* kName = "rota-test-disk";

  // `found`: an empty folder for what would be found.
  explicit TestDisk(std::filesystem::path found = {}) : found_(std::move(found)), real_(sqlite3_vfs_find(nullptr)) {
    vfs_ = *real_;
    vfs_.zName = kName;
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    sqlite3_vfs_register(&vfs_, 0);
  }
  TestDisk(const TestDisk&) = delete;
  TestDisk& operator=(const TestDisk&) = delete;
  ~TestDisk() { sqlite3_vfs_unregister(&vfs_); }

  // The write or sync that comes after so many others of its kind fails.
  void fail_after(std::int64_t others, DiskFault fault) {
    left_ = others;
    fault_ = fault;
    armed_ = true;
  }
  void work_again() { armed_ = false; }
  bool has_failed() const { return armed_ && left_ < 0; }

 private:
  // Methods of SQLite's own with ours in place of some; the first member is what SQLite knows.
  struct Methods {
    sqlite3_io_methods ours;
    const sqlite3_io_methods* real;
    TestDisk* disk;
  };

  static const Methods& of(sqlite3_file* file) { return *reinterpret_cast<const Methods*>(file->pMethods); }

  bool fails(bool writes) {
    if (!armed_ || writes != (fault_ != DiskFault::unsafe)) return false;
    --left_;
    return fault_ == DiskFault::full ? left_ < 0 : left_ == -1;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given) {
    TestDisk& disk = *static_cast<TestDisk*>(vfs->pAppData);
    const int code = disk.real_->xOpen(disk.real_, name, file, flags, given);
    if (code != SQLITE_OK || file->pMethods == nullptr) return code;
    if (name != nullptr) disk.names_[file] = name;
    for (const Methods& known : disk.methods_) {
      if (known.real != file->pMethods) continue;
      file->pMethods = &known.ours;
      return code;
    }
    Methods& methods = disk.methods_.emplace_back(*file->pMethods, file->pMethods, &disk);
    methods.ours.xWrite = write;
    methods.ours.xSync = sync;
    file->pMethods = &methods.ours;
    return code;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int /*sync_folder*/) {
    const TestDisk& disk = *static_cast<TestDisk*>(vfs->pAppData);
    if (!disk.found_.empty()) std::filesystem::remove(disk.found_ / std::filesystem::path(name).filename());
    return disk.real_->xDelete(disk.real_, name, 0);
  }

  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 place) {
    const Methods& methods = of(file);
    if (!methods.disk->fails(true)) return methods.real->xWrite(file, bytes, size, place);
    if (methods.disk->fault_ == DiskFault::full) return SQLITE_FULL;
    methods.real->xWrite(file, bytes, size / 2, place);
    return SQLITE_IOERR_WRITE;
  }

  static int sync(sqlite3_file* file, int /*flags*/) {
    const Methods& methods = of(file);
    TestDisk& disk = *methods.disk;
    if (disk.fails(false)) return SQLITE_IOERR_FSYNC;
    const auto name = disk.names_.find(file);
    if (!disk.found_.empty() && name != disk.names_.end()) {
      const std::filesystem::path path = name->second;
      std::filesystem::copy_file(path, disk.found_ / path.filename(),
                                 std::filesystem::copy_options::overwrite_existing);
    }
    return SQLITE_OK;
  }

  std::filesystem::path found_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  std::list<Methods> methods_;
  std::map<sqlite3_file*, std::string> names_;
  bool armed_ = false;
  std::int64_t left_ = 0;
  DiskFault fault_ = DiskFault::full;
};

}  // namespace rota::store
